"""What every long computation shares: threads, a progress line, a cluster.

Threads are plain Python threads that call compiled kernels which release the GIL. Unlike numba's own
thread pools these survive a fork, may be used from several threads at once, and split the work the same
way whatever their number, so results do not depend on it.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache, lru_cache
from numbers import Integral
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from threadpoolctl import ThreadpoolController

from finsler._memory import left_in_address_space
from finsler.errors import InputError, InputTypeError, MissingExtraError, shown

if TYPE_CHECKING:  # files are opened, and help is printed, without numpy
    from numpy.typing import NDArray

T = TypeVar("T")

THREAD = (
    2**28
)  # bytes of address space that a thread may take; where it gets none, the C library ends the process
AWAKE = 2e-4  # seconds at most that a thread looks again and again whether the others are done
FORKS_WAIT = 30.0  # seconds at most, for BLAS and the compiler to be done
MOST_THREADS = 1024  # that are ever of use, whatever is asked for

_pool: ThreadPoolExecutor | None = None
_pool_lock = Lock()
_blas_lock = RLock()  # held while BLAS works


# Locks that a fork waits for, in this order: what they guard has locks of its own, which nobody could renew in the child.
locks_before_forks: list[Callable[[], Any]] = [lambda: _blas_lock]
_taken: list[Any] = []


def _take_locks() -> None:
    until = time.monotonic() + FORKS_WAIT
    for lock in locks_before_forks:
        now = lock()
        if now.acquire(timeout=max(0.0, until - time.monotonic())):
            _taken.append(now)


def _give_locks_back() -> None:
    mine = _taken.copy()
    _taken.clear()  # before another thread that forks can take one
    for lock in reversed(mine):
        lock.release()


def _forget_threads() -> None:
    """Renew pool and locks in a forked child: the threads that use or hold them exist in the parent only."""
    global _pool, _pool_lock, _blas_lock
    _pool, _pool_lock, _blas_lock = None, Lock(), RLock()
    _taken.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take_locks, after_in_parent=_give_locks_back, after_in_child=_forget_threads)


if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """As in Python 3.12, without a lock.

        That of 3.11 is one for all objects of a class: fits in two threads wait for each other, and a child that is
        forked while one of them computes the property of its own object waits forever.
        """

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


@cache
def cpu_count() -> int:
    """Cores this process may use: those it is bound to, or fewer where a container has a quota."""
    import joblib  # here: it takes longer to import than most of what one thread does

    return int(joblib.cpu_count())


def thread_count(n_jobs: int | None) -> int:
    """Threads meant by ``n_jobs``: None and -1 are all cores, -2 all but one, and so on."""
    if n_jobs is None:
        return cpu_count()
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool):
        raise InputTypeError(
            f"n_jobs must be a whole number or None, got {shown(n_jobs)}.", argument="n_jobs"
        )
    if n_jobs == 0:
        raise InputError(
            "n_jobs=0 has no meaning; use a positive number, or None for all cores.", argument="n_jobs"
        )
    return min(int(n_jobs), MOST_THREADS) if n_jobs > 0 else max(1, cpu_count() + 1 + int(n_jobs))


def map_blocks(
    task: Callable[[int, int, int], T], edges: Sequence[int] | NDArray[Any], n_jobs: int | None = None
) -> list[T]:
    """Run ``task(block, start, stop)`` over consecutive blocks ``edges[block]:edges[block + 1]``.

    Results come back in the order of the blocks. If Ctrl-C arrives, the blocks that already run are waited
    for (they write into arrays that the caller owns) and the interrupt then goes on.
    """
    global _pool
    blocks = [(b, int(edges[b]), int(edges[b + 1])) for b in range(len(edges) - 1)]
    threads = min(thread_count(n_jobs), len(blocks)) if len(blocks) > 1 else 1
    if threads > 1 and (left := left_in_address_space(Path("/"))) is not None:
        threads = min(threads, 1 + left // THREAD)
    if threads <= 1:
        return [task(*block) for block in blocks]
    with _pool_lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max_workers=max(cpu_count(), 32), thread_name_prefix="finsler")
        pool = _pool
    missing = object()
    results: list[Any] = [missing] * len(blocks)
    pending = deque(blocks)

    def work() -> None:
        while True:
            try:
                block = pending.popleft()
            except IndexError:  # all are done, or in other hands
                return
            results[block[0]] = task(*block)

    helpers: list[Future[None]] = []
    try:
        for _ in range(threads - 1):
            helpers.append(pool.submit(work))
    except RuntimeError:  # a limit of memory or processes allows no more threads: those that are there do it
        _give_up(pool)
    try:
        work()
    finally:
        pending.clear()
        # Who did not come yet is not waited for.
        helpers = [helper for helper in helpers if not helper.cancel()]
        _wait(helpers)
        if pool is not _pool:  # what it took before it was given up
            pool.shutdown(wait=True)
    for helper in helpers:
        helper.result()
    return [task(*b) if found is missing else found for b, found in zip(blocks, results, strict=True)]


def _wait(helpers: list[Future[None]]) -> None:
    """Wait for the ends of last blocks. At first awake: to be woken takes longer than these mostly do."""
    until = time.perf_counter() + AWAKE
    while not all(helper.done() for helper in helpers):
        if time.perf_counter() > until:
            wait(helpers)
        time.sleep(0)  # lets them have the interpreter


def _give_up(pool: ThreadPoolExecutor) -> None:
    global _pool
    with _pool_lock:
        _pool = None if _pool is pool else _pool
    pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def whole_blas() -> Iterator[None]:
    """BLAS with all its threads: no fork meanwhile."""
    with _blas_lock:
        yield


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread: on small matrices, or a busy machine, its threads mostly wait for each other.

    The limit is global, so one block at a time may set it: overlapping ones would restore each other's limit.
    """
    with _blas_lock, blas_libraries().limit(limits=1, user_api="blas"):
        yield


def blas_libraries() -> ThreadpoolController:
    """What sets the threads of the BLAS libraries of this process.

    Finding them takes longer than a small map does, so they are looked for anew only after a module was imported, which is
    how another one gets here.
    """
    return _blas_libraries(len(sys.modules))


@lru_cache(maxsize=1)
def _blas_libraries(_: int) -> ThreadpoolController:
    return ThreadpoolController()


class Progress:
    """One line on stderr that shows how a long computation goes.

    Parameters
    ----------
    what : str
        Name of the computation.
    verbose : bool, int or "auto"
        ``"auto"`` shows the line on a terminal once two seconds have passed; a true value shows it
        at once wherever stderr goes; a false value never.
    """

    def __init__(self, what: str, verbose: bool | int | str = "auto"):
        self.what = what
        self.start = time.perf_counter()
        if (isinstance(verbose, str) and verbose != "auto") or not isinstance(verbose, str | Integral):
            raise InputTypeError(
                f"verbose must be True, False, a number or 'auto', got {shown(verbose)}.", argument="verbose"
            )
        if verbose == "auto":
            self.wait = 2.0 if sys.stderr is not None and sys.stderr.isatty() else float("inf")
        else:
            self.wait = 0.0 if verbose else float("inf")
        self._shown = float("-inf")
        self._width = 0

    def update(self, text: str) -> None:
        """Show ``text`` if it is time to."""
        elapsed = time.perf_counter() - self.start
        if elapsed >= self.wait and elapsed - self._shown > 0.1:
            self._shown = elapsed
            line = f"{self.what}: {text}, {elapsed:.1f} s"
            print("\r" + line.ljust(self._width), end="", file=sys.stderr, flush=True)
            self._width = len(line)

    def close(self, text: str) -> None:
        """End the line, if one was shown."""
        if self._width:
            elapsed = time.perf_counter() - self.start
            line = f"{self.what}: {text}, {elapsed:.1f} s"
            print("\r" + line.ljust(self._width), file=sys.stderr, flush=True)


# Dask, or word on how to get it; the client that is active.


def import_dask() -> Any:
    """Import ``dask`` with its arrays, or say how to get it."""
    try:
        import dask
        import dask.array
    except ImportError as error:
        raise MissingExtraError("This needs Dask: pip install 'finsler[distributed]'.") from error
    return dask


def active_client() -> Any | None:
    """Client that Dask would use now, or None if it would compute in this process."""
    dask = import_dask()
    if dask.config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        return None
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


def fresh_name(what: str) -> str:
    """Name of a group of tasks, which Dask's dashboard shows as ``finsler-`` and what they do."""
    return f"finsler-{what.replace('_', '-')}-{uuid4().hex}"
