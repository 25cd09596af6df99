"""Files of AnnData (``.h5ad``): what is known of cells and pairs of cells, without the counts of their genes."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from finsler._read import read_bytes, require_file
from finsler.errors import InputError, MissingExtraError


class CellFile(NamedTuple):
    """Parts of a file, by their names in AnnData; `finsler.graphs.cells` makes arcs of them."""

    obs: Mapping[str, Any]  #: Columns about the cells.
    obs_names: list[str]
    obsm: Mapping[str, Any]
    obsp: Mapping[str, Any]
    uns: Mapping[str, Any]
    source: str  #: Key of what says which way cells go, or "auto".


def parse_h5ad(path: Path, source: str | None) -> CellFile:
    """Parts of a file; the counts of genes, by far the largest, are not read."""
    try:
        import h5py
        from anndata.io import read_elem
    except ImportError as error:
        raise MissingExtraError(
            f"{path.name}: files of cells need anndata: pip install 'finsler[cells]'."
        ) from error
    require_file(path)
    packed = path.suffix.lower() == ".gz"
    with h5py.File(io.BytesIO(read_bytes(path)) if packed else path, "r") as file:
        if "obs" not in file:
            raise InputError(
                f"it is no AnnData: it has no part obs, only {', '.join(list(file)[:5]) or 'nothing'}."
            )
        obs = read_elem(file["obs"])
        parts = {name: read_elem(file[name]) if name in file else {} for name in ("obsm", "obsp", "uns")}
    names = [str(name) for name in obs.index]
    columns = {str(name): np.asarray(obs[name]) for name in obs.columns}
    return CellFile(columns, names, **parts, source="auto" if source is None else source)
