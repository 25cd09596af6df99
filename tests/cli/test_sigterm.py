"""SIGTERM ends the command line as Ctrl-C would: what is half written is removed."""

import os
import signal
import subprocess
import sys
import time

import pytest

SLOW_WRITER = """
import sys, time
import finsler.cli.datasets as commands
from finsler._io import write_atomically
from finsler.cli import main

def write(file):
    file.write(b"half")
    file.flush()
    time.sleep(60)

commands.descriptions = lambda: write_atomically(sys.argv[1], write)
sys.exit(main(["datasets", "list"]))
"""


@pytest.mark.skipif(os.name != "posix", reason="no SIGTERM to catch")
def test_nothing_is_left_after_sigterm(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", SLOW_WRITER, str(tmp_path / "map.csv")])
    deadline = time.monotonic() + 300
    while not os.listdir(tmp_path) and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert os.listdir(tmp_path), "nothing was being written"
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=300) == 128 + signal.SIGTERM
    assert os.listdir(tmp_path) == []
