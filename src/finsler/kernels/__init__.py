"""Compiled loops: the only place that imports numba."""

import warnings

from numba import njit

from finsler.kernels import compiler  # noqa: F401  (makes forks and Ctrl-C safe while something is compiled)


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
