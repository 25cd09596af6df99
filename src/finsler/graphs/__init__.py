"""Scores: how well a map or a model agrees with the data it was made from."""
