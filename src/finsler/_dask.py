"""Dask, or word on how to get it; the client that is active."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from finsler.errors import MissingExtraError


def import_dask() -> Any:
    """Import ``dask`` with its arrays, or say how to get it."""
    try:
        import dask
        import dask.array
    except ImportError as error:
        raise MissingExtraError("This needs Dask: pip install 'finsler[distributed]'.") from error
    return dask


def active_client() -> Any | None:
    """Client that Dask would use now, or None if it would compute in this process."""
    dask = import_dask()
    if dask.config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        return None
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


def fresh_name(what: str) -> str:
    """Name of a group of tasks, which Dask's dashboard shows as ``finsler-`` and what they do."""
    return f"finsler-{what.replace('_', '-')}-{uuid4().hex}"
