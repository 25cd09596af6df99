"""Runs from several starts at the same time, for problems whose passes are computed elsewhere.

A thread drives each run, and the passes of all runs meet on the workers. Results do not depend on which is first.
"""

from __future__ import annotations

import contextvars
import copy
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event, Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.solvers.majorize import Callback, Run
from finsler.solvers.problem import Problem
from finsler.solvers.solution import Iteration

Array = NDArray[np.floating[Any]]


def run_side_by_side(
    run_from: Callable[..., Run], problem: Problem, starts: Sequence[Array], callback: Callback | None
) -> list[Run]:
    """Run from all starts at once. Ctrl-C, or a callback that returns True, ends all of them after their iteration."""
    stop, one_at_a_time = Event(), Lock()
    interrupted = False

    def after_each(iteration: Iteration) -> bool:
        if callback is not None and not stop.is_set():
            with one_at_a_time:
                if callback(iteration):
                    stop.set()
        return stop.is_set()

    def drive(X0: Array) -> Run:
        return run_from(copy.copy(problem), X0, callback=after_each)

    with ThreadPoolExecutor(max_workers=len(starts), thread_name_prefix="finsler-start") as threads:
        # A thread starts without the context of its maker, in which Dask keeps the active client.
        tasks = [threads.submit(contextvars.copy_context().run, drive, X0) for X0 in starts]
        try:
            runs = [task.result() for task in tasks]
        except KeyboardInterrupt:
            interrupted = True
            stop.set()
            runs = [task.result() for task in tasks]
        except BaseException:
            stop.set()
            raise
    if interrupted:
        runs = [
            replace(run, status="interrupted", message="Ctrl-C; this is the best so far.")
            if run.status == "stopped"
            else run
            for run in runs
        ]
    return runs
