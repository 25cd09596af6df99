"""Fixtures for all tests."""

from __future__ import annotations

import signal

# A shell starts background jobs with Ctrl-C ignored, and so would be the processes that the tests of Ctrl-C start.
signal.signal(signal.SIGINT, signal.default_int_handler)
