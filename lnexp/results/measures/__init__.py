"""What is measured of sets of arms and of probes, for claims, tables and figures."""
