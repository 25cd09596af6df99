"""Compiled loops: the only place that imports numba."""

# nogil: the threads of `finsler.runtime` run kernels side by side.
# error_model="numpy": no check for a zero divisor, which would keep loops from using vector instructions.
# fastmath without "nnan"/"ninf": sums may be reordered, but NaN and inf keep their meaning.
OPTIONS = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
}
