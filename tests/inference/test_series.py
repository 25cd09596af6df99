"""Maps of a series in one frame."""

import json

import numpy as np
import pytest

from finsler import embed_matrix, embed_series, randers_distances
from finsler.errors import InputError

from helpers import spiral


def tables(alphas=(0.3, 0.3, 0.4), n=12):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return [randers_distances(X + 0.05 * k * rng.normal(size=X.shape), drift=a) for k, a in enumerate(alphas)]


def test_each_map_lies_over_the_one_before():
    given = tables()
    found = embed_series({"a": given[0], "b": given[1], "c": given[2]}, n_components=2)
    assert found.names == ["a", "b", "c"]
    for one, D in zip(found.maps, given, strict=True):
        np.testing.assert_allclose(one.distances(), embed_matrix(D).distances(), atol=1e-6)
    for before, now in zip(found.maps, found.maps[1:], strict=False):
        assert np.abs(now.coordinates - before.coordinates).max() < 0.5
    assert all(r > 0.98 for r in found.agreement)
    assert len(str(found).splitlines()) == 4
    assert json.loads(json.dumps(found.to_dict()))["agreement"] == found.agreement


def test_a_common_alpha():
    found = embed_series(tables(), alpha="common")
    assert 0.3 < found.common_alpha < 0.4
    assert {one.alpha for one in found.maps} == {found.common_alpha}
    exact = embed_series(tables((0.25, 0.25)), alpha="common")
    assert exact.common_alpha == pytest.approx(0.25, abs=2e-3)
    total = sum(one.normalized_stress**2 for one in found.maps)
    for alpha in (found.common_alpha - 0.02, found.common_alpha + 0.02):
        assert sum(one.normalized_stress**2 for one in embed_series(tables(), alpha=alpha).maps) > total


def test_points_come_and_go():
    pandas = pytest.importorskip("pandas")
    D, names = spiral(8), list("abcdefgh")
    first = pandas.DataFrame(D[:7, :7], index=names[:7], columns=names[:7])
    second = pandas.DataFrame(D[1:, 1:], index=names[1:], columns=names[1:])
    found = embed_series([first, second], alpha=0.3)
    (before, now) = found.matched[0]
    assert [found.maps[0].labels[i] for i in before] == [found.maps[1].labels[i] for i in now] == names[1:7]


def test_picture():
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt

    axes = embed_series(tables()).plot()
    assert len(axes) == 3
    assert len({ax.get_xlim() for ax in axes}) == 1
    assert [bool([c for c in ax.collections if c.get_gid() == "moves"]) for ax in axes] == [False, True, True]
    plt.close("all")


def test_what_is_refused():
    with pytest.raises(InputError, match="tables"):
        embed_series([spiral(5)])
    with pytest.raises(InputError, match="n_inits"):
        embed_series([spiral(5)] * 2, n_inits=3)
    with pytest.raises(InputError, match="labels"):
        embed_series([spiral(5), spiral(6)])
