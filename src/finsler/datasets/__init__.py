"""Example data."""
