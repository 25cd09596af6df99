"""A long run on disk: what it takes to go on after a power cut exactly as if nothing had happened."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from finsler._io import load_archive, save_archive
from finsler.errors import InputError
from finsler.geometry.pairs import AlphaSource

Array = NDArray[Any]


@dataclass(eq=False)
class State:
    """Where a run stands between two epochs."""

    coordinates: Array
    omega: Array
    history: list[float]
    n_passes: int
    alpha_source: AlphaSource


class Checkpoint:
    """A file that a run writes its state to, so many ``seconds`` apart at least, whole or not at all.

    An existing file is the state to go on from; one that is about another ``problem``, as JSON knows it, is refused.
    """

    def __init__(self, path: str | os.PathLike[str], problem: dict[str, Any], seconds: float):
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"checkpoint: there is no folder {str(self.path.parent)!r}.")
        if not os.access(self.path.parent, os.W_OK):
            raise PermissionError(f"checkpoint: the folder {str(self.path.parent)!r} may not be written to.")
        pause: Any = seconds
        if not isinstance(pause, Real) or not float(pause) >= 0:
            raise InputError(f"checkpoint_seconds must be a number that is not negative, got {seconds!r}.")
        self.problem, self.seconds, self._written = problem, seconds, time.monotonic()

    def load(self) -> State | None:
        """Read the state to go on from, or None if there is no file."""
        if not self.path.exists():
            return None
        try:
            saved = load_archive(self.path, "checkpoint")
            problem = saved.value("problem", dict)
            omega = saved.array("omega", None)
            source: Any = saved.value("alpha_source", str)
            if source not in get_args(AlphaSource) or not omega @ omega < 1:
                raise saved.wrong("omega", "is no drift")
            X = saved.array("coordinates", problem.get("n_points"), len(omega))
            history = saved.array("history", None, least=0).tolist()
            state = State(X, omega, history, saved.value("n_passes", int), source)
        except InputError as error:
            raise InputError(
                f"checkpoint {str(self.path)!r} is not the state of a run, or is damaged. Give another path, or remove the "
                "file to start anew."
            ) from error
        for name, value in self.problem.items():
            if problem.get(name) != value:
                raise InputError(
                    f"checkpoint {str(self.path)!r} is of another run: its {name} is {problem.get(name)!r}, here "
                    f"it is {value!r}. Give another path, or remove the file to start anew."
                )
        return state

    def save(self, state: State) -> None:
        """Write the state, unless the last one was written a short while ago."""
        if time.monotonic() - self._written < self.seconds:
            return
        arrays = {name: np.array(getattr(state, name)) for name in ("coordinates", "omega", "history")}
        record = {"problem": self.problem, "n_passes": state.n_passes, "alpha_source": state.alpha_source}
        save_archive(self.path, "checkpoint", arrays, record, compress=False)
        self._written = time.monotonic()
