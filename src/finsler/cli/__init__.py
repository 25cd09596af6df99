"""The command ``finsler``. The commands themselves are in `finsler.cli.app`, which needs the extra ``cli``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows ``finsler``; by default what the shell gave.

    Returns
    -------
    int
        0 if all went well, 2 for a mistake of the user, 130 after Ctrl-C. A bug raises, and Python makes that 1.
    """
    missing = [package for package in ("typer", "rich") if find_spec(package) is None]
    if missing:
        needs = f"finsler: the command line needs {' and '.join(missing)}: pip install 'finsler[cli]'"
        print(needs, file=sys.stderr)
        return 2
    try:
        from finsler.cli.app import run

        return run(arguments)
    except KeyboardInterrupt:  # before a command began
        return 130
