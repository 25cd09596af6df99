"""What does not fit is refused before it is allocated, under limits of the address space, too."""

import gzip
import os
import subprocess
import sys
import tracemalloc
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest

from finsler import FinslerMDS, randers_distances
from finsler.cli.app import run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc how much is taken")

# Whatever is to be tried is imported and compiled before the limit is set, so that the limit concerns the data alone.
LIMITED = """
import resource, sys
import numpy as np
import finsler.cli.app
from finsler import Embedding, FinslerMDS, embed_matrix
from finsler.data.matrix import as_dissimilarities
from finsler.graphs.readers import open_file
embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0.0]])
n = 3000
D = np.ones((n, n)) - np.eye(n)
taken = int(open("/proc/self/status").read().split("VmSize:")[1].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (taken + {room}, taken + {room}))
try:
    {code}
except MemoryError as error:
    print(f"refused: {{error}}")
else:
    print("done")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
"""


def under_limit(code, room=50_000_000):
    program = LIMITED.format(code=code, room=room)
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=600
    )
    assert child.returncode == 0, child.stderr
    return child.stdout.strip()


@pytest.mark.parametrize(
    "code",
    [
        "embed_matrix(D, max_iter=2)",
        "FinslerMDS(max_iter=2).fit(as_dissimilarities(D))",
        "embed_matrix(D, weights=D, max_iter=2)",
        "embed_matrix(np.where(D == 1, D, np.nan), missing='mask', max_iter=2)",
    ],
)
def test_a_map_that_does_not_fit_is_refused(code):
    assert under_limit(code).startswith("refused: ")


def test_with_room_for_its_copies_alone_it_is_solved():
    """Threads are given up before memory is: the address space that theirs take ended in RuntimeError or an abort."""
    assert under_limit("embed_matrix(D, max_iter=2)", 180_000_000) == "done"


N_PACKED = 300_000_000


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """Files of some 300 kB that unpack to 300 MB."""
    folder = tmp_path_factory.mktemp("packed")
    n = int((N_PACKED / 8) ** 0.5)
    np.savez_compressed(folder / "matrix.npz", D=np.zeros((n, n)))
    pack = zlib.compressobj(1, zlib.DEFLATED, 31)
    line = b"0," * 500_000 + b"0\n"
    with open(folder / "table.csv.gz", "wb") as file:
        for _ in range(N_PACKED // len(line)):
            file.write(pack.compress(line))
        file.write(pack.flush())
    return folder


@pytest.mark.parametrize("name", ["matrix.npz", "table.csv.gz"])
def test_packed_files_are_not_unpacked_beyond_memory(packed, name):
    path = str(packed / name)
    assert os.path.getsize(path) < 5_000_000
    said = under_limit(f"open_file({path!r}, 'matrix')", 150_000_000)
    assert said.startswith("refused: ")
    assert name in said
    code = under_limit(f"print(finsler.cli.app.run(['report', {path!r}]))", 150_000_000)
    assert code.splitlines()[0] == "2"


def test_a_header_that_lies_takes_no_memory(tmp_path):
    """Of an array that claims 8 TB, nothing is allocated; nor of gzip that ends early."""
    np.save(tmp_path / "a.npy", np.zeros((1000, 1)))
    data = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(data.replace(b"(1000, 1), }" + b" " * 14, b"(1000000, 1000000), }     "))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b,1\n" * 1000)[:-20])
    from finsler.errors import InputError
    from finsler.graphs.readers import open_file

    tracemalloc.start()
    try:
        for name in ("a.npy", "a.csv.gz"):
            with pytest.raises(InputError, match=name):
                open_file(tmp_path / name)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_the_command_line_holds_no_more_copies_than_the_library(tmp_path):
    """Beside the file, which is mapped: one working copy, and one of it in single precision."""
    n = 1000
    rng = np.random.default_rng(0)
    D = rng.uniform(1, 2, (n, n))
    np.fill_diagonal(D, 0)
    np.save(tmp_path / "big.npy", D)
    np.save(tmp_path / "small.npy", D[:50, :50])
    options = ["--max-iter", "2", "--quiet", "--force", "--n-jobs", "1", "--out"]
    run(["embed", str(tmp_path / "small.npy"), *options, str(tmp_path / "map.csv")])
    tracemalloc.start()
    try:
        assert run(["embed", str(tmp_path / "big.npy"), *options, str(tmp_path / "map.csv")]) == 0
        copies = tracemalloc.get_traced_memory()[1] / D.nbytes
    finally:
        tracemalloc.stop()
    assert copies < 1.8


@pytest.fixture(scope="module")
def matrices(tmp_path_factory):
    """A small matrix, and one of 128 MB; exactly Randers, so that a pass or two are enough."""
    folder = tmp_path_factory.mktemp("matrices")
    for name, n in (("small.npy", 50), ("large.npy", 4000)):
        X = np.random.default_rng(0).normal(size=(n, 2))
        D = np.lib.format.open_memmap(folder / name, "w+", np.float64, (n, n))
        for i in range(n):
            D[i] = randers_distances(X[i : i + 1], X, drift=0.2)[0]
            D[i, i] = 0
        D.flush()
        # A compiler takes more memory than there will be: what it makes is kept.
        for budget in [None] if n < 1000 else [None, 5 * n * n]:
            options = {"memory_budget": budget, "max_iter": 2, "n_jobs": 1, "verbose": False}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                FinslerMDS(2, **options).fit(np.load(folder / name, mmap_mode="r"))
    return folder


COMMAND = "import sys; from finsler.cli.app import run; sys.exit(run(sys.argv[1:]))"


def run_after(shell, *arguments):
    """Run the command line in a process of its own, after a line of shell; its exit code and what it said."""
    child = subprocess.run(
        ["sh", "-c", f'{shell}; exec "$@"', "sh", sys.executable, "-c", COMMAND, *map(str, arguments)],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    return child.returncode, child.stderr


@pytest.mark.parametrize(
    ("kilobytes", "name", "ends"),
    [
        (
            250_000,
            "small.npy",
            "The address space is limited to 256 MB",
        ),  # SciPy's BLAS tries forever to be loaded
        (600_000, "small.npy", "The address space is limited to 614 MB"),  # no library of LLVM can be loaded
        (1_060_000, "small.npy", "Written"),
        (1_060_000, "large.npy", "large.npy"),  # BLAS, without its buffers, ended the process
        (1_200_000, "large.npy", "Written"),
    ],
)
def test_limits_of_the_address_space_from_the_start(matrices, tmp_path, kilobytes, name, ends):
    options = ["--max-iter", "2", "--out", tmp_path / "map.csv"]
    code, said = run_after(f"ulimit -v {kilobytes}", "embed", matrices / name, *options)
    assert code == (0 if "Written" in said else 2), said
    assert ends in said
    assert "Traceback" not in said


@pytest.fixture
def cgroup():
    """A control group of ours for memory, of version 1 or 2, where this user may make one."""
    for base, limit in (("memory", "memory.limit_in_bytes"), ("", "memory.max")):
        group = Path("/sys/fs/cgroup", base, f"finsler-test-{os.getpid()}")
        try:
            group.mkdir()
        except OSError:
            continue
        if (group / limit).exists():
            yield group / limit
            group.rmdir()
            return
        group.rmdir()
    pytest.skip("no control group for memory can be made here")


def test_in_a_control_group_what_does_not_fit_is_refused_and_the_rest_is_solved(cgroup, matrices, tmp_path):
    """Nothing is killed, which is what happens where a process takes more than its group may."""
    cgroup.write_text("330000000")
    enter = f"echo $$ > {cgroup.parent}/cgroup.procs"
    options = ["--max-iter", "2", "--n-jobs", "1", "--force", "--out", tmp_path / "map.csv"]
    code, said = run_after(enter, "embed", matrices / "small.npy", *options)
    assert (code, "Written" in said) == (0, True), said
    code, said = run_after(enter, "embed", matrices / "large.npy", *options)  # panel by panel
    assert (code, "Written" in said) == (0, True), said
    arcs = np.stack([np.arange(20_000), np.roll(np.arange(20_000), 1)], axis=1)
    np.savetxt(tmp_path / "ring.csv", arcs, fmt="%d", delimiter=",", header="from,to", comments="")
    code, said = run_after(enter, "embed", tmp_path / "ring.csv", "--method", "dense", *options)
    assert code == 2, said
    assert "3.2" in said.splitlines()[-1]
    assert "is available" in said.splitlines()[-1]
