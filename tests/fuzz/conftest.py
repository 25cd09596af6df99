"""How many cases are tried: few by default, as many of each kind as ``FINSLER_FUZZ`` says; and the table of counts."""

from __future__ import annotations

import os

from fuzz.counts import COUNTS, table

collect_ignore = ["atheris_readers.py"]  # a script, of a package that few have
EXAMPLES = int(os.environ.get("FINSLER_FUZZ", "0"))


def pytest_terminal_summary(terminalreporter):
    if COUNTS:
        terminalreporter.section("fuzzed cases")
        for line in table():
            terminalreporter.write_line(line)
