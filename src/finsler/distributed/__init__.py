"""The dense solver on a Dask cluster: blocks of rows stay on the workers, coordinates travel."""
