"""The paper's analysis, measured: hidden states and gradients, before training, along it and after it."""
