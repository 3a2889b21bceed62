"""Measure what the paper's analysis is about: hidden states and gradients, in theory's models and in trained ones."""
