"""Files are written whole or not at all, and nothing is left beside them."""

import errno
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from finsler._io import _prefix, load_archive, save_archive, write_atomically
from finsler.errors import InputError

posix = pytest.mark.skipif(os.name != "posix", reason="permissions, links and signals of POSIX")


def leftovers(folder):
    return [name for name in os.listdir(folder) if name.endswith(".tmp")]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "map.npz"
    path.write_bytes(b"old")

    def fail(file):
        file.write(b"half of the new")
        raise ArithmeticError("in the midst of it")

    with pytest.raises(ArithmeticError):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["map.npz"]


@pytest.mark.parametrize("length", [1, 100, 255])
def test_names_as_long_as_the_system_allows(tmp_path, length):
    path = write_atomically(tmp_path / ("n" * length), lambda file: file.write(b"x"))
    assert path.read_bytes() == b"x"


def test_a_full_disk_names_the_file(tmp_path):
    def full(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"map\.npz") as caught:
        write_atomically(tmp_path / "map.npz", full)
    assert caught.value.errno == errno.ENOSPC
    assert os.listdir(tmp_path) == []


@posix
def test_the_umask_is_asked_for_by_the_system_alone(tmp_path, monkeypatch):
    before = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", None)  # another thread would see a change of it
        path = write_atomically(tmp_path / "a", lambda file: file.write(b"x"))
        assert path.stat().st_mode & 0o777 == 0o640
    finally:
        monkeypatch.undo()
        os.umask(before)


@posix
@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_what_it_points_to_is_replaced(tmp_path, there):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "map", tmp_path / "link"
    if there:
        target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, lambda file: file.write(b"new"))
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@posix
def test_what_a_killed_process_left_is_swept_and_what_a_live_one_writes_is_not(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    dead = tmp_path / f"{_prefix()}{child.pid}-00000000.tmp"
    alive = tmp_path / f"{_prefix()}{os.getpid()}-00000000.tmp"
    elsewhere = tmp_path / ".finsler-00000000-1-00000000.tmp"  # of another machine on a shared disk
    mine = tmp_path / "notes.tmp"
    for path in (dead, alive, elsewhere, mine):
        path.write_bytes(b"x")
    write_atomically(tmp_path / "map", lambda file: file.write(b"x"))
    assert not dead.exists()
    assert alive.exists()
    assert elsewhere.exists()
    assert mine.exists()


KILLED = """
import os, sys, time
from finsler._io import write_atomically
def write(file):
    for k in range(1000):
        file.write(b"n" * 4096)
        file.flush()
        time.sleep(0.001)
while True:
    write_atomically(sys.argv[1], write)
"""


@posix
def test_killed_at_any_moment_the_old_file_is_whole(tmp_path):
    path = tmp_path / "map"
    path.write_bytes(b"old")
    for k in range(4):
        child = subprocess.Popen([sys.executable, "-c", KILLED, str(path)])
        deadline = time.monotonic() + 600
        while not leftovers(tmp_path) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.05 * k)
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert path.read_bytes() in (b"old", b"n" * 4_096_000)
    write_atomically(path, lambda file: file.write(b"new"))
    assert os.listdir(tmp_path) == ["map"]


def test_archives_round_trip_and_others_are_refused(tmp_path):
    path = save_archive(tmp_path / "a.npz", "thing", {"x": np.arange(3)}, {"word": "größer"})
    saved = load_archive(path, "thing")
    assert saved.array("x", 3, kinds="i").tolist() == [0, 1, 2]
    assert saved.value("word", str) == "größer"
    with pytest.raises(InputError, match="thing"):
        load_archive(path, "map")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match=r"a\.npz"):
        load_archive(path, "thing")
