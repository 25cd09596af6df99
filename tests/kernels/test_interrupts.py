"""Ctrl-C while LLVM compiles: inside a callback of LLVM the exception would be printed and lost."""

import sys

import pytest

from helpers import python

# Ctrl-C arrives at the first of LLVM's own steps, as early as one can.
COMPILING = """
import os, signal
{handler}
import finsler.kernels
from numba import njit
from numba.core import event

class Ask(event.Listener):
    asked = False
    def on_start(self, event):
        if not self.asked:
            self.asked = True
            os.kill(os.getpid(), signal.SIGINT)
    def on_end(self, event):
        pass

@njit
def successor(x):
    return x + 1

with event.install_listener("{step}", Ask()) as ask:
    try:
        successor(1)
    except KeyboardInterrupt:
        print("interrupted", end=" ")
print(ask.asked, len(successor.signatures), successor(1), signal.getsignal(signal.SIGINT) is {kept})
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to send")


@pytest.mark.parametrize("step", ["numba:run_pass", "numba:llvm_lock"])
def test_ctrl_c_while_something_is_compiled_counts_when_it_is_done(step):
    handler = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    done = python(COMPILING.format(handler=handler, step=step, kept="signal.default_int_handler"))
    assert done.stdout.strip() == "interrupted True 1 2 True", done.stderr
    assert done.stderr == ""


def test_a_program_that_ignores_ctrl_c_goes_on_ignoring_it():
    handler = "signal.signal(signal.SIGINT, signal.SIG_IGN)"
    done = python(COMPILING.format(handler=handler, step="numba:run_pass", kept="signal.SIG_IGN"))
    assert done.stdout.strip() == "True 1 2 True", done.stderr
