"""Files of fitted link predictors: plain arrays and a JSON record, checked as an input is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from finsler._io import Saved, load_archive, save_archive
from finsler.graphs.arc_set import Integers
from finsler.learn.blend import LinkScore
from finsler.learn.calibration import Calibration, Line
from finsler.learn.fitting import Outcome
from finsler.learn.heights import LearnedDirection, Paths
from finsler.learn.model import FittedModel
from finsler.learn.neighbors import FEATURES, PairFeatures

KIND = "link predictor"


def save_outcome(
    path: str | os.PathLike[str], outcome: Outcome, known: Integers, record: dict[str, Any]
) -> Path:
    """Write what was learned, the arcs that are known, and what else is to be kept."""
    score, calibration = outcome.score, outcome.calibration
    arrays: dict[str, Any] = {
        "known": known,
        "lines": score.lines,
        "reversed_share": np.array([score.reversed_share]),
        "correction": score.correction,
        "intercepts": calibration.intercepts,
    }
    if score.learned is not None:
        arrays |= {"heights": score.learned.heights, "path_weights": score.learned.path_weights}
    for g, line in enumerate(calibration.lines):
        arrays |= {f"slopes{g}": line.slopes, f"bends{g}": line.bends}
    for k, model in enumerate(score.members):
        arrays |= {f"points{k}": model.points, f"radii{k}": model.radii}
        arrays[f"decoder{k}"] = np.array([model.alpha, model.radius, model.temperature, model.power])
    about = {
        "members": outcome.members,
        "encoder": outcome.kind,
        "candidates": outcome.candidates,
        "scores": outcome.scores,
        "history": outcome.history,
        "status": outcome.status,
    }
    return save_archive(path, KIND, arrays, {**record, **about})


def load_outcome(path: str | os.PathLike[str]) -> tuple[Saved, Outcome, Integers]:
    """Read back what `save_outcome` wrote: the file, for what else is in it, what was learned, and the known arcs."""
    saved = load_archive(path, KIND)
    names = saved.value("members", list)
    if not 0 < len(names) <= len(saved.arrays) or not all(isinstance(name, str) for name in names):
        raise saved.wrong("members", "is no list of names")
    members = [_member(saved, k) for k in range(len(names))]
    n = len(members[0].points)
    if any(len(member.points) != n for member in members):
        raise saved.wrong("points", "differs in the number of nodes between the members")
    known = saved.array("known", None, 2, kinds="iu", least=0)
    if (known >= n).any():
        raise saved.wrong("known", f"names a node beyond the {n}")
    odds, correction = saved.array("lines", len(names), 4), saved.array("correction", len(FEATURES))
    (share,) = saved.array("reversed_share", 1, least=0).tolist()
    if share > 1:
        raise saved.wrong("reversed_share", f"is {share}, above 1")
    neighbors = PairFeatures(known.astype(np.int64), n) if correction.any() else None
    learned = None
    if "heights" in saved.arrays:
        paths = Paths(known.astype(np.int64), n)
        learned = LearnedDirection(saved.array("heights", n), saved.array("path_weights", 2), paths)
    lines = [_line(saved, g) for g in (0, 1)]
    candidates = saved.value("candidates", dict)
    if not all(isinstance(value, int | float) for value in candidates.values()):
        raise saved.wrong("candidates", "holds what is no score")
    scores = saved.value("scores", dict)
    if not isinstance(scores.get("calibration"), dict):
        raise saved.wrong("scores", "does not say how probabilities were found")
    outcome = Outcome(
        LinkScore(members, odds, share, correction, neighbors, learned),
        Calibration(lines, saved.array("intercepts", 2)),
        saved.value("encoder", str),
        names,
        candidates,
        scores,
        saved.value("history", dict),
        saved.value("status", str),
    )
    return saved, outcome, known


def _line(saved: Saved, g: int) -> Line:
    """Line of the log odds of one group."""
    bends = saved.array(f"bends{g}", None)
    if (np.diff(bends) <= 0).any():
        raise saved.wrong(f"bends{g}", "do not increase")
    return Line(saved.array(f"slopes{g}", len(bends) + 1, least=0), bends)


def _member(saved: Saved, k: int) -> FittedModel:
    """One map of a saved score."""
    points = saved.array(f"points{k}", None, None)
    radii = saved.array(f"radii{k}", len(points), 2)
    alpha, radius, temperature, power = saved.array(f"decoder{k}", 4).tolist()
    if not points.size or not 0 <= alpha < 1 or not temperature > 0 or power not in (1, 2):
        raise saved.wrong(f"decoder{k}", f"is {[alpha, radius, temperature, power]} for {len(points)} nodes")
    return FittedModel(points, radii, alpha, radius, temperature, int(power))
