"""Points that cannot be placed with the others are left out by name; tables may run from column to row."""

import numpy as np
import pytest

from finsler import embed_matrix, embed_pairs
from finsler.data.pieces import sources
from finsler.data.tables import read_table
from finsler.errors import InputError
from finsler.report import asymmetry_report

from helpers import done, mistake, random_dissimilarities

NAMES = [f"p{i}" for i in range(7)]


def broken_off():
    """Seven points, of which the last two know only each other."""
    D = random_dissimilarities(7, 3)[0]
    D[:5, 5:] = D[5:, :5] = np.nan
    D[1, 2] = np.inf
    return D


def as_csv(path, D, names=NAMES):
    rows = [",".join(["", *names]), *(",".join([n, *map(str, row)]) for n, row in zip(names, D, strict=True))]
    path.write_text("\n".join(rows))
    return path


def test_the_largest_group_of_a_matrix():
    D = broken_off()
    with pytest.raises(InputError, match="unconnected groups"):
        embed_matrix(D, missing="mask", labels=NAMES)
    found = embed_matrix(D, unreachable="largest", labels=NAMES, alpha=0.1)
    assert found.labels == NAMES[:5]
    facts = found.provenance
    assert (facts.left_out, facts.n_missing, facts.n_unreachable) == (("p5", "p6"), 0, 1)
    known = embed_matrix(D[:5, :5], missing="mask", alpha=0.1)
    np.testing.assert_allclose(found.coordinates, known.coordinates)
    assert "'p5', 'p6'" in " ".join(found.sentences())
    assert embed_matrix(D, unreachable="largest", alpha=0.1).labels == [0, 1, 2, 3, 4]
    hinged = embed_matrix(D, missing="hinge", unreachable="largest", alpha=0.1)
    assert (hinged.provenance.policy, hinged.provenance.n_unreachable) == ("hinge", 1)
    whole = embed_matrix(D[:5, :5], missing="mask", unreachable="largest", labels=NAMES[:5], alpha=0.1)
    assert whole.provenance.left_out == ()
    with pytest.raises(InputError, match="unreachable must be 'raise' or 'largest'"):
        embed_matrix(D, unreachable="mask")
    nothing = np.where(np.eye(3, dtype=bool), 0, np.nan)
    with pytest.raises(InputError, match="no two points"):
        embed_matrix(nothing, unreachable="largest")


def test_the_largest_group_of_pairs():
    D = broken_off()
    rows = [
        (NAMES[i], NAMES[j], D[i, j]) for i in range(7) for j in range(7) if i != j and np.isfinite(D[i, j])
    ]
    found = embed_pairs(rows, unreachable="largest", alpha=0.1)
    assert found.labels == NAMES[:5]
    assert found.provenance.left_out == ("p5", "p6")


def test_places_from_which_nothing_goes():
    """Flows: a place without any, then one whose only partner that was."""
    flows = np.random.default_rng(0).integers(1, 50, (6, 6)).astype(float)
    flows[5] = 0
    flows[4] = 0
    flows[4, 5] = 3
    assert sources(flows).tolist() == [0, 1, 2, 3]
    rows = [(NAMES[i], NAMES[j], flows[i, j]) for i in range(6) for j in range(6) if i != j]
    with pytest.raises(InputError, match="Nothing goes from"):
        embed_pairs(rows, similarity="gravity")
    found = embed_pairs(rows, similarity="gravity", unreachable="largest", alpha=0.1)
    assert found.labels == NAMES[:4]
    assert found.provenance.left_out == ("p4", "p5")


def test_the_command_line_and_the_report_name_them(tmp_path):
    path = as_csv(tmp_path / "t.csv", broken_off())
    result = done("embed", path, "--unreachable", "largest", "--out", tmp_path / "map.csv")
    assert "2 points were left out: 'p5', 'p6'" in result.stderr
    assert len((tmp_path / "map.csv").read_text().splitlines()) == 6
    assert "'p5', 'p6'" in done("report", path, "--unreachable", "largest").stdout
    assert "unreachable" in mistake("embed", path, "--unreachable", "hinge", "--out", "-")


def test_a_report_of_data_with_points_left_out():
    from finsler.data.matrix import as_dissimilarities
    from finsler.data.pieces import placeable

    data = placeable(as_dissimilarities(broken_off(), labels=NAMES, missing="mask"), "largest")
    report = asymmetry_report(data)
    assert report.left_out == ("p5", "p6")
    assert "left out" in str(report)
    assert report.to_dict()["left_out"] == ["p5", "p6"]


def test_columns_where_ways_begin(tmp_path):
    D = random_dissimilarities(5, 1)[0]
    W = np.random.default_rng(0).uniform(0.5, 1, (5, 5))
    known = embed_matrix(D, weights=W, labels=NAMES[:5], alpha=0.1)
    for given in (D.T, as_csv(tmp_path / "t.csv", D.T, NAMES[:5])):
        found = embed_matrix(given, weights=W.T, orientation="to-from", labels=NAMES[:5], alpha=0.1)
        np.testing.assert_allclose(found.coordinates, known.coordinates, atol=1e-9)
        assert any("turned" in sentence for sentence in found.sentences())
    np.save(tmp_path / "t.npy", D.T)
    plain = embed_matrix(D, alpha=0.1)
    turned = embed_matrix(tmp_path / "t.npy", orientation="to-from", alpha=0.1)
    np.testing.assert_allclose(turned.coordinates, plain.coordinates, atol=1e-9)
    weights = as_csv(tmp_path / "w.csv", W.T, NAMES[:5])
    options = [
        "--weights",
        weights,
        "--orientation",
        "to-from",
        "--alpha",
        "0.1",
        "--out",
        tmp_path / "map.npz",
    ]
    done("embed", tmp_path / "t.csv", *options)
    from finsler import Embedding

    np.testing.assert_allclose(Embedding.load(tmp_path / "map.npz").coordinates, known.coordinates, atol=1e-9)
    with pytest.raises(InputError, match="orientation must be 'from-to' or 'to-from'"):
        embed_matrix(D, orientation="columns")


def test_orientation_is_for_matrices(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("from,to,minutes\na,b,1\nb,a,2\n")
    with pytest.raises(InputError, match="orientation"):
        read_table(path, orientation="to-from")


def test_rectangular_tables_are_told_what_to_do(tmp_path):
    path = as_csv(tmp_path / "t.csv", np.ones((7, 7)), NAMES)
    path.write_text("\n".join(path.read_text().splitlines()[:6]))
    with pytest.raises(InputError, match=r"5 rows and 7 columns.*embed_rectangular"):
        read_table(path, "matrix")
    with pytest.raises(InputError, match="embed_rectangular"):
        embed_matrix(np.ones((3, 4)))
