"""Write folders of results: tables, verdicts, figures and pages of runs or measurements, and publish them."""
