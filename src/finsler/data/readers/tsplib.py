"""TSPLIB files of asymmetric problems: EDGE_WEIGHT_TYPE EXPLICIT, EDGE_WEIGHT_FORMAT FULL_MATRIX."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from finsler._memory import require_memory
from finsler.errors import InputError


def parse_tsplib(data: bytes) -> tuple[NDArray[np.float64], list[str]]:
    """Matrix of a file and the numbers of its nodes, from 1. Its diagonal, often huge to forbid it, means nothing: 0."""
    head, mark, body = data.decode("latin-1").partition("EDGE_WEIGHT_SECTION")
    facts = {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in head.splitlines())
    }
    if not mark or facts.get("EDGE_WEIGHT_TYPE", "EXPLICIT") != "EXPLICIT":
        raise InputError("only files with an EDGE_WEIGHT_SECTION are read (EDGE_WEIGHT_TYPE: EXPLICIT).")
    form = facts.get("EDGE_WEIGHT_FORMAT", "FULL_MATRIX")
    if form != "FULL_MATRIX":
        raise InputError(
            f"EDGE_WEIGHT_FORMAT must be FULL_MATRIX, as of asymmetric problems; found {form[:40]!r}."
        )
    if not re.fullmatch(r"\d{1,6}", size := facts.get("DIMENSION", "")) or not (n := int(size)):
        raise InputError(f"DIMENSION must be a number of nodes; found {size[:40]!r}.")
    require_memory(40.0 * n * n, f"A matrix of {n:,} nodes", "Take fewer.")
    cells = re.split(r"[A-Z]", body, maxsplit=1)[0].split()  # up to the next section, or EOF
    if len(cells) != n * n:
        raise InputError(f"there are {len(cells):,} weights, where DIMENSION {n:,} asks for {n * n:,}.")
    values = np.array(cells, dtype=float).reshape(n, n)
    np.fill_diagonal(values, 0)
    return values, [str(k) for k in range(1, n + 1)]
