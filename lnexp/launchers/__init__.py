"""How many runs are launched: Hydra plugins of ours. joblib and SLURM come from Hydra's own packages."""
