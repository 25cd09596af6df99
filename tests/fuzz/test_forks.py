"""A process that forks while other threads are fitting: the child can fit, and ends."""

from __future__ import annotations

import os
import sys

import pytest

from helpers import python

FORKS = """
import os, signal, sys, threading, warnings
import numpy as np
from finsler import FinslerMDS

warnings.simplefilter("ignore")  # Python warns of forks with threads, which is what this is about
rng = np.random.default_rng(0)
D = rng.uniform(1, 2, (400, 400)); np.fill_diagonal(D, 0)
small = D[:30, :30].copy()

def fit(data, jobs):
    return FinslerMDS(alpha="auto", max_iter=3, tol=0, n_init=1, n_jobs=jobs, random_state=0).fit(data).embedding_

expected = fit(small, 2)
fit(D, 2)  # compiled before: LLVM has locks of its own, which a child that is forked while it works cannot renew
ended = threading.Event()

def work():
    while not ended.is_set():
        fit(D, 2)

threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
for thread in threads: thread.start()
codes = []
for _ in range(FORKED):
    child = os.fork()
    if child == 0:
        signal.alarm(180)  # a child that waits for a lock forever dies of it
        os._exit(0 if (fit(small, 2) == expected).all() and (fit(D, 2).shape == (400, 2)) else 3)
    codes.append(os.waitpid(child, 0)[1])
ended.set()
for thread in threads: thread.join()
print(codes)
sys.exit(0 if not any(codes) else 1)
"""


@pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="needs fork")
def test_children_of_a_busy_process_can_fit():
    forked = 40 if os.environ.get("FINSLER_FUZZ") else 3
    done = python(FORKS.replace("FORKED", str(forked)))
    assert done.returncode == 0, (done.stdout, done.stderr[-2000:])


HELD = """
import os, signal, sys, threading, warnings
import numpy as np
from numba.core.compiler_lock import global_compiler_lock
from finsler import FinslerMDS, _runtime
import finsler.kernels

warnings.simplefilter("ignore")
_runtime.FORKS_WAIT = 0.1  # the locks are not given back
held, ended = threading.Event(), threading.Event()

def hold():
    with _runtime._pool_lock, _runtime._blas_lock, global_compiler_lock:
        held.set()
        ended.wait()

holder = threading.Thread(target=hold, daemon=True)
holder.start()
held.wait()
child = os.fork()
if child == 0:
    signal.alarm(500)
    D = np.random.default_rng(0).uniform(1, 2, (400, 400)); np.fill_diagonal(D, 0)
    FinslerMDS(alpha="auto", max_iter=2, tol=0, n_jobs=2).fit(D)
    os._exit(0)
code = os.waitpid(child, 0)[1]
ended.set()
holder.join()
sys.exit(0 if code == 0 else 1)
"""


@pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="needs fork")
def test_every_lock_is_renewed_in_a_child():
    """Threads that held a lock when the process forked are not there to release it: ours, and that of the compiler."""
    done = python(HELD)
    assert done.returncode == 0, (done.stdout, done.stderr[-2000:])


AT_ONCE = """
import os, threading, warnings
import finsler.kernels

warnings.simplefilter("ignore")

def fork():
    for _ in range(50):
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)

threads = [threading.Thread(target=fork) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="needs fork")
def test_threads_may_fork_at_once():
    """Each gives back the locks that it took itself."""
    done = python(AT_ONCE)
    assert (done.returncode, done.stderr) == (0, "")
