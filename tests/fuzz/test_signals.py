"""A short campaign of signals; ``make fuzz`` runs the long one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("plotly")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_killed_while_writing_nothing_is_lost_and_nothing_left():
    script = Path(__file__).parent / "signals.py"
    child = subprocess.run(
        [sys.executable, str(script), "--kills", "3", "--terms", "3"],
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert child.returncode == 0, child.stderr
    assert "6 signals hit; nothing lost, nothing left" in child.stdout
