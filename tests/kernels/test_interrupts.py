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
    asked = 0
    def on_start(self, event):
        if self.asked < {times}:
            self.asked += 1
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


KEPT = "signal.default_int_handler"
HANDLER = f"signal.signal(signal.SIGINT, {KEPT})"


def compiling(handler=HANDLER, kept=KEPT, step="numba:run_pass", times=1):
    return python(COMPILING.format(handler=handler, kept=kept, step=step, times=times))


@pytest.mark.parametrize("step", ["numba:run_pass", "numba:llvm_lock"])
def test_ctrl_c_while_something_is_compiled_counts_when_it_is_done(step):
    done = compiling(step=step)
    assert done.stdout.strip() == "interrupted 1 1 2 True", done.stderr
    assert done.stderr == ""


def test_a_second_ctrl_c_breaks_a_compilation_off():
    done = compiling(times=2)
    assert done.stdout.strip() == "interrupted 2 0 2 True", done.stderr


def test_a_program_that_ignores_ctrl_c_goes_on_ignoring_it():
    done = compiling("signal.signal(signal.SIGINT, signal.SIG_IGN)", "signal.SIG_IGN")
    assert done.stdout.strip() == "1 1 2 True", done.stderr


def test_a_handler_that_is_installed_while_something_is_compiled_stays():
    install = """
def mine(*args):
    print("mine", end=" ")
class Install(event.Listener):
    def on_start(self, event):
        signal.signal(signal.SIGINT, mine)
    def on_end(self, event):
        pass
with event.install_listener("numba:run_pass", Install()):
    successor(1)
print(signal.getsignal(signal.SIGINT) is mine)
"""
    assert python(SUCCESSOR + install).stdout.strip() == "True"


def test_where_no_handler_can_be_installed_everything_is_compiled():
    refuse = """
def refused(*args):
    raise ValueError("signal only works in main thread of the main interpreter")
signal.signal = refused
print(successor(1))
"""
    done = python(SUCCESSOR + refuse)
    assert done.stdout.strip() == "2", done.stderr


# What the cases below begin with, and end with: is Ctrl-C heard?
SUCCESSOR = f"""
import os, signal, sys, threading, time
{HANDLER}
import finsler.kernels
from numba import njit
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock as lock

@njit
def successor(x):
    return x + 1

def heard():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    except KeyboardInterrupt:
        return signal.getsignal(signal.SIGINT) is {KEPT}
"""


@pytest.mark.parametrize("again", ["", "successor(1)"])
def test_ctrl_c_is_heard_after_a_wait_for_the_compiler_was_broken_off(again):
    """Of what another handler breaks off, numba tells the start and never the end."""
    broken_off = f"""
class TimeOut(Exception):
    pass
def time_out(*args):
    raise TimeOut
signal.signal(signal.SIGALRM, time_out)
held, done = threading.Event(), threading.Event()
def hold():
    with lock._lock:
        held.set()
        done.wait()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    successor(1)
except TimeOut:
    print("broken off", end=" ")
done.set()
thread.join()
{again}
print(heard())
"""
    done = python(SUCCESSOR + broken_off)
    assert done.stdout.strip() == "broken off True", done.stderr


def test_ctrl_c_is_heard_in_a_child_forked_while_something_was_compiled():
    forked = """
taken = threading.Event()
def fork():
    with lock._lock:  # which the main thread waits for
        taken.set()
        while signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            time.sleep(0.01)
        child = os.fork()
        if child == 0:
            print(heard(), flush=True)
            os._exit(0)
    os.waitpid(child, 0)
thread = threading.Thread(target=fork)
thread.start()
taken.wait()
successor(1)
thread.join()
print(heard())
"""
    done = python(SUCCESSOR + forked)
    assert done.stdout.split() == ["True", "True"], done.stderr


@pytest.mark.parametrize(
    "anew",
    [
        "importlib.reload(finsler.kernels.compiler)",
        "del sys.modules['finsler.kernels.compiler'], sys.modules['finsler.kernels']; import finsler.kernels",
    ],
)
def test_ctrl_c_is_heard_after_the_module_was_loaded_anew(anew):
    done = python(SUCCESSOR + f"import importlib\n{anew}\nsuccessor(1)\nprint(heard())")
    assert done.stdout.strip() == "True", done.stderr
