"""Compiled loops: the only place that imports numba."""

import os
import signal
import threading
import warnings
from typing import Any

from llvmlite.binding.ffi import lib as llvm  # type: ignore[import-untyped]
from numba import njit
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from finsler._runtime import locks_before_forks


def _renew_locks() -> None:
    """Renew the locks of the compiler in a forked child: a thread that held one, compiling, exists in the parent only."""
    owners: list[Any] = [global_compiler_lock, getattr(llvm, "_lock", None)]
    for owner in owners:
        if hasattr(owner, "_lock"):
            owner._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
    locks_before_forks.append(lambda: global_compiler_lock._lock)  # LLVM has more of them


class _InterruptAfterCompiling(event.Listener):  # type: ignore[misc]
    """Ctrl-C while something is compiled counts when that is done: in a callback of LLVM the exception would be lost."""

    def __init__(self) -> None:
        self.depth, self.usual, self.asked = 0, None, None  # type: int, Any, Any

    def on_start(self, event: Any) -> None:
        """Take Ctrl-C over, if it is handled in Python; only the main thread is told of it."""
        if threading.current_thread() is not threading.main_thread():
            return
        self.depth += 1
        if self.depth == 1 and callable(usual := signal.getsignal(signal.SIGINT)):
            self.usual, self.asked = usual, None
            signal.signal(signal.SIGINT, self._note)

    def _note(self, *asked: Any) -> None:
        self.asked = asked

    def on_end(self, event: Any) -> None:
        """Give it back, and do what was asked meanwhile."""
        if threading.current_thread() is not threading.main_thread():
            return
        self.depth -= 1
        if self.depth == 0 and self.usual is not None:
            usual, asked, self.usual = self.usual, self.asked, None
            signal.signal(signal.SIGINT, usual)
            if asked is not None:
                usual(*asked)


event.register("numba:compiler_lock", _InterruptAfterCompiling())


def _can_cache() -> bool:
    """Whether numba finds a folder for compiled code; where package and home are read-only, decorating would raise."""
    try:
        njit(cache=True)(lambda: None)  # stands in for a kernel
    except (RuntimeError, OSError):
        warnings.warn(
            "There is no folder in which numba can keep compiled code, so that it is compiled anew in every process. "
            "Set NUMBA_CACHE_DIR to a folder of your own that can be written to.",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    return True


# nogil: the threads of `finsler._runtime` run kernels side by side.
# cache: never in a shared temporary folder, where others could plant code.
# error_model="numpy": no check for a zero divisor, which would keep loops from using vector instructions.
# fastmath without "nnan"/"ninf": sums may be reordered, but NaN and inf keep their meaning.
OPTIONS = {
    "nogil": True,
    "cache": _can_cache(),
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
}

# For sums that must not depend on where their arrays lie: the compiler keeps a loop with and one without vector instructions
# and chooses by a look at the addresses, and those of another thread are others.
STRICT = {**OPTIONS, "fastmath": False}
