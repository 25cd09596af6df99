"""The explorer's page as a file; what it does in a browser is tested in browser/."""

import sys

import numpy as np
import pytest

from finsler.plotting import explore

from helpers import made_map


def test_attributes_must_fit(tmp_path):
    pd = pytest.importorskip("pandas")
    embedding = made_map(np.eye(3)[:, :2], labels=["x", "y", "z"])
    with pytest.raises(ValueError, match=r"attributes\['size'\] has 2 values for 3 points"):
        explore(embedding, tmp_path / "a.html", attributes={"size": [1, 2]})
    with pytest.raises(TypeError, match=r"attributes must be .*got list"):
        explore(embedding, tmp_path / "a.html", attributes=[1, 2, 3])
    with pytest.raises(ValueError, match="no row for 'y'"):
        explore(
            embedding,
            tmp_path / "a.html",
            attributes=pd.DataFrame({"size": [1, 2, 3]}, index=["x", "w", "z"]),
        )
    assert list(tmp_path.iterdir()) == []


def test_plotly_is_named_when_it_is_missing(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ImportError, match=r"pip install 'finsler\[plot\]'"):
        explore(made_map([[0.0, 0.0]]), tmp_path / "a.html")


def test_an_unknown_color_is_refused(tmp_path):
    with pytest.raises(ValueError, match="depth") as caught:
        explore(made_map([[0.0, 0.0]]), tmp_path / "a.html", attributes={"size": [1]}, color="depth")
    assert caught.value.argument == "color"
    assert "size" in str(caught.value)
    with pytest.raises(ValueError, match="color must hold"):
        explore(made_map([[0.0, 0.0]]), tmp_path / "a.html", color=[1, 2])
    assert list(tmp_path.iterdir()) == []
