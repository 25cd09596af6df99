"""What is said of an error."""

import pytest

pytest.importorskip("typer")
from finsler.cli.errors import explain
from finsler.errors import InputError


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
