"""How sure are we? Tests of asymmetry and fit, confidence of points and alpha, comparison of maps, choice of dimension.

All random draws are seeded; a p-value counts the observed case among the draws, so that it is never 0. A test that cannot be
answered from the data (lengths of paths, too few points, no pair known both ways) is refused in a line.
"""

from finsler._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "asymmetry": ["asymmetry_test", "AsymmetryTest"],
        "counts": ["CountTests"],
        "results": ["TestResult"],
        "alignment": ["procrustes", "compare_maps", "Alignment"],
        "ellipses": ["confidence", "Confidence"],
        "series": ["Series"],
        "fit": ["fit_test", "random_stress", "RandomStress"],
        "resampling": ["bootstrap", "bootstrap_counts", "jackknife", "Jackknife"],
        "dimensions": ["cross_validate", "scree", "CrossValidation", "Scree"],
    },
)
