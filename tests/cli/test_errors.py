"""What is said of an error."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
from finsler.cli.output import explain
from finsler.errors import InputError
from finsler.recipes import embed_matrix

from helpers import SMALL, run


def test_an_error_is_one_line_that_starts_with_the_option_to_blame():
    def caught(function, *args):
        with pytest.raises(Exception) as info:
            function(*args)
        return info.value

    assert explain(InputError("two\nlines")) == "two lines"
    assert explain(caught(open, "/nothing")) == "There is no file /nothing."
    assert explain(caught(open, "/")) == "/: Is a directory."
    assert explain(MemoryError()) == "There is not enough memory."
    blamed = InputError("must be at least 1, got 0.", argument="n_init")
    assert str(blamed) == "n_init must be at least 1, got 0."
    assert explain(blamed, {"n_init": "--n-init"}) == "--n-init: must be at least 1, got 0."
    assert explain(blamed, {"tol": "--tol"}) == str(blamed)
    for message in ("n_init = 9 is too many.", "n_init=9 is too many.", "n_init: 9 is too many."):
        assert (
            explain(InputError(message, argument="n_init"), {"n_init": "--n-init"})
            == "--n-init: 9 is too many."
        )


FILES = [
    "junk.npy",
    "junk.npz",
    "junk.graphml",
    "junk.mtx",
    "objects.npy",
    "vector.npy",
    "two.npz",
    "text.csv",
    "uneven.csv",
    "binary.csv",
    "zero.csv",
    "one.csv",
    "same.csv",
    "point.csv",
    "empty.csv",
    "nothing.csv",
    ".",
]
USES = [
    *("embed FILE --json", "embed FILE --json --kind matrix", "embed FILE --json --kind edges"),
    *(
        "embed FILE --json --kind points",
        "embed small.csv --json --weights FILE",
        "report FILE",
        "compare FILE",
    ),
    *("embed small.csv --json --attributes FILE", "distance FILE A B", "plot FILE --out p.csv --force"),
    *("place map.npz FILE", "place FILE small.csv", "plot map.npz --attributes FILE --out p.csv --force"),
]


@pytest.mark.parametrize("use", USES)
def test_no_file_makes_a_traceback(use, tmp_path, monkeypatch):
    """A file that cannot be used ends in one line: no error of numpy, scipy or scikit-learn gets through."""
    monkeypatch.chdir(tmp_path)
    Path("small.csv").write_text(SMALL)
    embed_matrix(np.ones((4, 4)) - np.eye(4), labels=[*"ABCD"], alpha=0.1).save("map.npz")
    np.save("objects.npy", np.array([{}]), allow_pickle=True)
    np.save("vector.npy", np.arange(4.0))
    np.savez("two.npz", a=np.eye(3), b=np.eye(2))
    texts = {
        "text.csv": "hello\nworld\n",
        "uneven.csv": "a,b,c\n1,2\n",
        "zero.csv": "0,0\n0,0\n",
        "one.csv": "0\n",
        "same.csv": "x,y,u,v\n" + "0,0,0,0\n" * 5,
        "point.csv": "x,y,u,v\n0,0,0,0\n",
        "empty.csv": "",
    }
    for name in FILES[:4]:
        Path(name).write_bytes(b"junk")
    for name, lines in texts.items():
        Path(name).write_text(lines)
    Path("binary.csv").write_bytes(bytes(range(256)))
    for name in FILES:
        result = run(*use.replace("FILE", name).split())
        assert result.exit_code in (0, 2), (name, result.exception)
        assert "Traceback" not in result.stderr
