"""One module per family of file formats."""

# Cells that say that a number is missing, in any case.
MISSING = {"", "na", "n/a", "nan", "-nan", "+nan", "null", "none"}
