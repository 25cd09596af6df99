"""PyTorch, or an error that says how to get it. Only `finsler.learn` imports it, so the rest works without."""

from __future__ import annotations

from finsler.errors import MissingExtraError

try:
    import torch
except ImportError as error:
    raise MissingExtraError("Learning needs PyTorch: pip install 'finsler[learn]'.") from error

__all__ = ["torch"]
