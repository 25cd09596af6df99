"""scikit-learn's own checks of both learners, with a matrix of arcs."""

import pytest

pytest.importorskip("torch")

from sklearn.utils.estimator_checks import parametrize_with_checks

from finsler.learn import DigraphEmbedding, LinkPredictor

# Checks that cannot apply, with the reason.
READER = "graphs of all kinds are read, and what is wrong with them is said in words about arcs and nodes"
BSR = "a matrix in BSR format is refused: it fills up with zeros that are no arcs"
EXPECTED_FAILURES = {
    "check_complex_data": READER,
    "check_estimators_empty_data_messages": READER,
    "check_estimators_nan_inf": READER,
    "check_fit2d_1sample": READER,
    "check_estimator_sparse_array": BSR,
    "check_estimator_sparse_matrix": BSR,
    "check_dtype_object": "lengths of arcs are not used, so they need not be numbers",
    "check_n_features_in_after_fitting": "score takes graphs and pairs of nodes, not rows of features",
}
PAIRS = "fit takes a graph; predict, predict_proba, decision_function and score take pairs of its nodes"
OF_PAIRS = dict.fromkeys(
    [
        "check_fit_score_takes_y",
        "check_n_features_in_after_fitting",
        "check_estimators_dtypes",
        "check_dtype_object",
        "check_pipeline_consistency",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimators_pickle",
        "check_estimators_pickle(readonly_memmap=True)",
        "check_f_contiguous_array_estimator",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_dict_unchanged",
        "check_fit_idempotent",
        "check_fit2d_predict1d",
    ],
    PAIRS,
)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@parametrize_with_checks(
    [
        DigraphEmbedding(1, max_iter=20, random_state=0, n_jobs=1),
        LinkPredictor(3, epochs=1, encoder="direct", validation_fraction=0, random_state=0, n_jobs=1),
    ],
    expected_failed_checks=lambda learner: (
        EXPECTED_FAILURES | (OF_PAIRS if isinstance(learner, LinkPredictor) else {})
    ),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
