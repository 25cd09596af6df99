"""Products of single rows of sparse matrices, against dense ones."""

import numpy as np
import pytest
from scipy import sparse

from finsler.kernels.rows import row_products


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(("few", "many"), [(0.2, 0.2), (0.02, 0.9), (0.9, 0.02), (0.0, 0.5)])
def test_products_are_those_of_dense_rows(few, many, index):
    rng = np.random.default_rng(0)
    one, other = (
        np.where(rng.random((30, 40)) < share, rng.normal(size=(30, 40)), 0) for share in (few, many)
    )
    pairs = np.argwhere(np.ones((30, 30)))
    sides = []
    for dense in (one, other):
        rows = sparse.csr_array(dense)
        sides += [rows.indptr.astype(index), rows.indices.astype(index), rows.data]
    found = np.empty(len(pairs))
    row_products(*sides, *np.ascontiguousarray(pairs.T), found)
    np.testing.assert_allclose(found, (one @ other.T).ravel(), atol=1e-12)
