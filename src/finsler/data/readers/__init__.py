"""One module per family of file formats."""
