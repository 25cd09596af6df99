"""Maps of graphs too large for all pairs."""
