"""The paper's analysis, measured: hidden states and gradients of models that are not trained yet."""
