"""From what users have to dissimilarities with weights and labels."""
