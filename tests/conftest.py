"""Fixtures for all tests."""

from __future__ import annotations

import signal

import pytest

from helpers import SHARED

# A shell starts background jobs with Ctrl-C ignored, and so would be the processes that the tests of Ctrl-C start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def proximities():
    """Folder of real matrices, where the checkout has it."""
    folder = SHARED / "data" / "proximities"
    if not folder.is_dir():
        pytest.skip("the real matrices are not beside this checkout")
    return folder
