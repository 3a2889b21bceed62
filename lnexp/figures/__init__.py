"""Figures as data, and on paper: what tables of results show, in the paper's form."""
