"""scikit-learn's own checks of FinslerMDS, with a matrix and with points."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from finsler import FinslerMDS

ONE_WAY = (
    "with a matrix, transform(X) gets the ways from new points to fitted ones only; fit had both ways. "
    "transform(X, from_fitted=X.T) gives the fitted coordinates back (test_mds.py)."
)
# Checks that cannot apply, with the reason.
EXPECTED_FAILURES = {
    "check_transformer_general": ONE_WAY,
    "check_transformer_data_not_an_array": ONE_WAY,
    "check_transformer_general(readonly_memmap=True)": ONE_WAY,
}


def expected_failures(estimator):
    asymmetric = estimator.metric == "precomputed" and estimator.alpha != "auto"
    return EXPECTED_FAILURES if asymmetric else {}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@parametrize_with_checks(
    [
        FinslerMDS(),
        FinslerMDS(alpha=0.5),
        FinslerMDS(metric="euclidean"),
        FinslerMDS(metric="cityblock", alpha=0.3),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
