"""From dissimilarities to a Solution."""
