"""What is measured of arms, of sets of arms and of probes, for claims, tables and figures: who trains, and how well."""
