"""Thin scikit-learn classes over the solvers."""
