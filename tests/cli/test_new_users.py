"""What people try first, and what they are told: options by their names, counts that agree, nothing taken for another."""

import numpy as np
import pytest

from finsler import asymmetry_report, embed_matrix, randers_distances
from finsler.errors import InputError
from finsler.geometry.pairs import AsymmetryShown
from finsler.geometry.swirl import swirl_matrix

from helpers import run

GAP = "from,to,min\na,b,1\nb,a,\nb,c,3\nc,b,4\na,c,9\nc,a,7\n"
THREE = ",a,b,c\na,0,1,2\nb,3,0,1\nc,1,2,0\n"


@pytest.fixture
def file(tmp_path):
    def write(text, name="table.csv"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def test_messages_name_options_as_the_command_line_writes_them(file):
    said = run("embed", file(THREE.replace("0,1,2", "0,1,")), "--out", "-").stderr
    assert "--missing mask" in said
    assert "missing=" not in said


def test_two_words_are_no_graph(file):
    path = file("hello world\n", "hello.txt")
    refused = run("report", path)
    assert refused.exit_code == 2
    assert "two words and no number, 'hello' and 'world'" in refused.stderr
    assert run("report", path, "--kind", "edges").exit_code == 0


def test_an_empty_cell_is_one_missing_pair_wherever_it_is_counted(file):
    said = run("embed", file(GAP), "--out", "-").stderr
    assert "5 pairs of 3 places, 1 ordered pair missing" in said
    assert "--kind edges" in said
    assert "1 ordered pair without a value" in said
    assert "others" not in said


def test_three_points_are_too_few_for_held_out_pairs(file):
    said = run("dims", file(THREE)).stderr
    assert "D has 3 points: pairs can be held out if each point has at least 3" in said
    assert "fold" not in said


@pytest.mark.parametrize("mark", [".", ","])
@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_marks_of_thousands_are_not_read_as_decimals(file, mark, delimiter):
    """1.200 minutes beside 950 were read as 1.2, without a word."""
    text = "from;to;min\na;b;1.200\nb;a;950\nb;c;300\nc;b;400\na;c;2.000\nc;a;7\n"
    refused = run("report", file(text.replace(".", mark).replace(";", delimiter)))
    assert refused.exit_code == 2
    assert f"'1{mark}200' beside '950'" in refused.stderr
    for decimals in ("1.25", "0.125", "1.2345"):  # tell that the mark is that of decimals
        plain = text.replace("c;a;7", f"c;a;{decimals}").replace(".", mark).replace(";", delimiter)
        assert run("report", file(plain)).exit_code == 0


@pytest.mark.parametrize("cell", ["1.200,5", "1,200.5", "1.200.000,5"])
def test_numbers_with_both_marks_are_refused_by_a_sentence(file, cell):
    said = run("report", file(THREE.replace(",", ";").replace("0;1;2", f"0;{cell};2"))).stderr
    assert f"{cell!r} is not a number; write thousands without a mark" in said


def test_large_tables_with_marks_of_thousands_are_refused_too(file):
    n = 60
    values = 100 + np.arange(n * n).reshape(n, n) % 900 * (1 - np.eye(n, dtype=int))
    rows = [[str(value) for value in row] for row in values]
    rows[50][3] = "1.200"
    said = run("report", file("\n".join(";".join(row) for row in rows))).stderr
    assert "'1.200' beside" in said


def test_the_report_takes_the_path_of_a_matrix(file):
    path = file(THREE)
    assert (
        asymmetry_report(path).to_dict()
        == asymmetry_report([[0, 1, 2], [3, 0, 1], [1, 2, 0]], labels=["a", "b", "c"]).to_dict()
    )


def test_another_dimension_is_advised_only_where_points_hold_it():
    shown = AsymmetryShown(0.3, available=0.9)
    assert "try 3 dimensions" in shown.advice(2, may_turn=False, n_points=7)
    assert not shown.advice(2, may_turn=False, n_points=6)


def test_like_says_how_well_the_maps_agree(tmp_path, file):
    X = np.random.default_rng(0).normal(size=(8, 2))
    embed_matrix(randers_distances(X, drift=0.3)).save(tmp_path / "first.npz")
    np.save(tmp_path / "again.npy", 2 * randers_distances(X, drift=0.3))
    found = run("embed", tmp_path / "again.npy", "--like", tmp_path / "first.npz", "--out", "-")
    assert "8 points on both maps, drift kept: r = 1 " in found.stderr


def test_title_and_key_of_a_swirl_tell_of_the_same_radius():
    from dataclasses import replace

    import matplotlib.pyplot as plt

    from finsler.plotting.swirl import turn_of

    X = np.random.default_rng(1).normal(size=(12, 2))
    turned = replace(embed_matrix(randers_distances(X, drift=0.0), alpha=0.0), swirl=swirl_matrix(0.1, 2))
    ax = turned.plot()
    title = ax.get_title(loc="left") or ax.get_title() or ax.figure.get_suptitle()
    share = turn_of(turned).rim
    plt.close("all")
    assert f"costs {(1 + share) / (1 - share):.3g} times as much" in title


def test_a_path_that_is_no_matrix_is_refused_by_name(file):
    with pytest.raises(InputError, match=r"table\.csv"):
        asymmetry_report(file(GAP))
