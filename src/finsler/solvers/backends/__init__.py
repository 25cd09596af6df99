"""The pass over all pairs where they are: in memory, in a file that is larger, or on the workers of Dask. Internal.

`FinslerMDS.fit` chooses: an array, the path of a ``.npy`` file or a memory map, or a Dask array
(``pip install 'finsler[distributed]'``), which uses whatever client is active.
"""
