"""Learning Randers embeddings of digraphs with PyTorch: fit a digraph, predict its links."""
