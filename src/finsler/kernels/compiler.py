"""Locks and Ctrl-C while numba compiles."""

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from llvmlite.binding.ffi import lib as llvm  # type: ignore[import-untyped]
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from finsler._runtime import locks_before_forks


def _renew_locks() -> None:
    """Renew the locks of the compiler in a forked child: a thread that held one, compiling, exists in the parent only."""
    owners: list[Any] = [global_compiler_lock, getattr(llvm, "_lock", None)]
    for owner in owners:
        if hasattr(owner, "_lock"):
            owner._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
    locks_before_forks.append(lambda: global_compiler_lock._lock)  # LLVM has more of them


class _Postponed:
    """A handler of Ctrl-C that waits while the compiler is at work, the first time; in all else the usual one is called."""

    def __init__(self, usual: Callable[..., Any]) -> None:
        self.usual, self.asked = usual, None  # type: Callable[..., Any], tuple[Any, ...] | None

    def __call__(self, *asked: Any) -> None:
        if self.asked is None and global_compiler_lock.is_locked():  # by this thread, the main one
            self.asked = asked
            return
        self.asked = None
        self.give_back()
        self.usual(*asked)

    def give_back(self) -> None:
        """Install the usual handler again, unless another one was installed meanwhile."""
        installed: Any = signal.getsignal(signal.SIGINT)
        if installed is self:
            signal.signal(signal.SIGINT, self.usual)

    def done(self) -> None:
        """Give it back, and do what was asked meanwhile."""
        self.give_back()
        asked, self.asked = self.asked, None
        if asked is not None:
            self.usual(*asked)


class _InterruptAfterCompiling(event.Listener):
    """Ctrl-C while something is compiled counts when that is done: in a callback of LLVM the exception would be lost.

    A second one counts at once, for a compilation may take long. The start is told before the lock of the compiler is
    waited for, the end after it is given back; where the wait is broken off, an end is never told. So nothing is counted:
    whoever begins or ends without holding the lock is the outermost.
    """

    postponed: _Postponed | None = None

    def on_start(self, _: event.Event) -> None:
        """Take Ctrl-C over, if it is handled in Python; only the main thread is told of it."""
        usual = signal.getsignal(signal.SIGINT) if _is_outermost() else None
        if usual is None or not callable(usual) or usual is self.postponed:
            return
        self.postponed = _Postponed(usual)
        with suppress(ValueError):  # outside the main interpreter nobody may
            signal.signal(signal.SIGINT, self.postponed)

    def on_end(self, _: event.Event) -> None:
        """Give it back, and do what was asked meanwhile."""
        if self.postponed is not None and _is_outermost():
            postponed, self.postponed = self.postponed, None
            postponed.done()

    def forget(self) -> None:
        """Give it back in a forked child, whose parent does what was asked, and compiles."""
        if self.postponed is not None:
            postponed, self.postponed = self.postponed, None
            postponed.give_back()


def _is_outermost() -> bool:
    return threading.current_thread() is threading.main_thread() and not global_compiler_lock.is_locked()


def _listen(kind: str, listener: event.Listener) -> None:
    """Register a listener in place of one of that name, of this module before it was loaded anew."""
    for older in list(event._registered[kind]):
        if type(older).__name__ == type(listener).__name__:
            event.unregister(kind, older)
    event.register(kind, listener)


_interrupts = _InterruptAfterCompiling()
_listen("numba:compiler_lock", _interrupts)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_interrupts.forget)
