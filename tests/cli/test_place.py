"""``finsler place``."""

import csv
import io

import numpy as np
import pytest

pytest.importorskip("typer")
import finsler
from finsler.cli import output as cli_output
from finsler.datasets import load_flight_hours
from finsler.recipes import embed_matrix

from helpers import done, mistake


@pytest.fixture
def newcomers(tmp_path):
    """A map without two airports, and files of their hours to and from the others, with columns in any order."""
    example = load_flight_hours()
    codes, D = example.codes, example.hours
    old, new = list(range(2, 64)), [0, 1]
    flight_map = embed_matrix(D[np.ix_(old, old)], labels=codes[2:])
    flight_map.save(tmp_path / "map.npz")
    turned = old[::-1]
    for name, values in (("to", D[np.ix_(new, turned)]), ("from", D[np.ix_(turned, new)].T)):
        rows = [["airport", *(codes[j] for j in turned)]]
        rows += [[codes[i], *row] for i, row in zip(new, values.tolist(), strict=True)]
        (tmp_path / f"{name}.csv").write_text(cli_output.csv_text(rows))
    return tmp_path, flight_map, D[np.ix_(new, old)], D[np.ix_(old, new)].T


def test_place(newcomers):
    folder, flight_map, to_fitted, from_fitted = newcomers
    args = ["place", folder / "map.npz"]
    for files, arguments in (
        ([folder / "to.csv"], {"to_fitted": to_fitted}),
        (["--from", folder / "from.csv"], {"from_fitted": from_fitted}),
        (
            [folder / "to.csv", "--from", folder / "from.csv"],
            {"to_fitted": to_fitted, "from_fitted": from_fitted},
        ),
    ):
        header, *rows = csv.reader(io.StringIO(done(*args, *files, "--out", "-").stdout))
        assert header == ["label", "x1", "height", "misfit"]
        assert [row[0] for row in rows] == load_flight_hours().codes[:2]
        expected = flight_map.place(**arguments)
        np.testing.assert_allclose(np.array([row[1:3] for row in rows], dtype=float), expected)
    assert all(0 < float(row[3]) < 0.1 for row in rows)
    done(*args, folder / "to.csv", "--out", folder / "all.npz", "--out", folder / "all.png")
    whole = finsler.Embedding.load(folder / "all.npz")
    assert whole.labels == [*flight_map.labels, *load_flight_hours().codes[:2]]
    assert "2 points were placed into it later" in whole.summary()
    np.testing.assert_allclose(whole.coordinates[-2:], flight_map.place(to_fitted=to_fitted))


def test_place_with_few_columns_or_none_named(newcomers):
    folder, flight_map, to_fitted, _ = newcomers
    args = ["place", folder / "map.npz", "-", "--out", "-"]
    codes = flight_map.labels
    few = f"{codes[5]},{codes[9]},{codes[20]}\n1,2,\n2,1,1\n"
    known = np.full((2, 62), np.nan)
    known[0, [5, 9]], known[1, [5, 9, 20]] = (1, 2), (2, 1, 1)
    rows = list(csv.reader(io.StringIO(done(*args, input=few).stdout)))
    assert [row[0] for row in rows[1:]] == ["new 1", "new 2"]
    np.testing.assert_allclose(
        np.array([row[1:3] for row in rows[1:]], dtype=float), flight_map.place(to_fitted=known)
    )
    plain = "\n".join(",".join(map(repr, row)) for row in to_fitted.tolist())
    bare = list(csv.reader(io.StringIO(done(*args, input=plain).stdout)))
    np.testing.assert_allclose(
        np.array([row[1:3] for row in bare[1:]], dtype=float), flight_map.place(to_fitted=to_fitted)
    )


def test_place_refuses(newcomers):
    folder, flight_map, _, _ = newcomers
    args = ["place", folder / "map.npz"]
    first = flight_map.labels[0]
    assert "give NEW.csv" in mistake(*args)
    line = mistake(*args, "-", input=f"new,{first}X\nQ,1\n")
    assert f"'{first}X'. Did you mean" in line
    assert f"'{first}' is a point of the map" in mistake(*args, "-", input=f"new,{first}\n{first},1\n")
    assert "3 columns without names, where the map has 62" in mistake(*args, "-", input="1,2,3\n")
    assert "holds no points" in mistake(*args, "-", input=f"new,{first}\n")
    assert f"row 2, column \"{first}\": 'x' is not a number" in mistake(
        *args, "-", input=f"new,{first}\nQ,x\n"
    )
    (folder / "other.csv").write_text(f"new,{first}\nQ,1\nR,2\n")
    assert "their labels differ" in mistake(*args, folder / "to.csv", "--from", folder / "other.csv")
    assert "has no known dissimilarity" in mistake(
        *args, "-", input=f"new,{first},{flight_map.labels[1]}\nQ,,\nR,1,1\n"
    )
