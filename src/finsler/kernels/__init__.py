"""Compiled loops: the only place that imports numba."""

# nogil: the threads of `finsler._runtime` run kernels side by side.
# error_model="numpy": no check for a zero divisor, which would keep loops from using vector instructions.
# fastmath without "nnan"/"ninf": sums may be reordered, but NaN and inf keep their meaning.
OPTIONS = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
}

# For sums that must not depend on where their arrays lie: the compiler keeps a loop with and one without vector instructions
# and chooses by a look at the addresses, and those of another thread are others.
STRICT = {**OPTIONS, "fastmath": False}
