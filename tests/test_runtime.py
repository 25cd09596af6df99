import multiprocessing
import sys
import threading

import pytest
from threadpoolctl import threadpool_info

from finsler import _runtime as runtime


def test_blocks_come_back_in_order_and_on_threads():
    seen = set()

    def task(block, start, stop):
        seen.add(threading.get_ident())
        return block, start, stop

    edges = [0, 3, 7, 20, 21]
    expected = [(0, 0, 3), (1, 3, 7), (2, 7, 20), (3, 20, 21)]
    assert runtime.map_blocks(task, edges, 1) == expected
    assert len(seen) == 1
    assert runtime.map_blocks(task, edges, 3) == expected


def test_an_error_in_a_block_reaches_the_caller():
    def task(block, start, stop):
        if block == 2:
            raise ArithmeticError("block 2")

    for jobs in (1, 2):
        with pytest.raises(ArithmeticError, match="block 2"):
            runtime.map_blocks(task, range(9), jobs)


def test_an_interrupt_waits_for_running_blocks():
    done = []
    main = threading.get_ident()

    def task(block, start, stop):
        if threading.get_ident() == main:
            raise KeyboardInterrupt
        done.append(block)

    with pytest.raises(KeyboardInterrupt):
        runtime.map_blocks(task, range(100), 2)
    count = len(done)
    threading.Event().wait(0.05)
    assert len(done) == count


def _child(queue):
    queue.put(runtime.map_blocks(lambda b, i, j: b, range(5), 2))


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_threads_work_again_after_a_fork():
    runtime.map_blocks(lambda b, i, j: b, range(5), 2)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_child, args=(queue,))
    process.start()
    assert queue.get(timeout=300) == [0, 1, 2, 3]
    process.join(timeout=300)


def test_thread_count():
    assert runtime.thread_count(None) == runtime.cpu_count()
    assert runtime.thread_count(-1) == runtime.cpu_count()
    assert runtime.thread_count(3) == 3
    assert runtime.thread_count(-100) == 1
    with pytest.raises(ValueError, match="n_jobs=0"):
        runtime.thread_count(0)


def test_memory_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(runtime, "available_memory", lambda: 20_000_000)
    runtime.require_memory(10_000_000, "This", "Do that.")
    runtime.require_memory(20_000_000, "This", "Do that.")
    with pytest.raises(MemoryError, match=r"This needs about 30 MB and 20 MB is available. Do that."):
        runtime.require_memory(30_000_000, "This", "Do that.")
    monkeypatch.setattr(runtime, "available_memory", lambda: None)
    runtime.require_memory(1e30, "This", "Do that.")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Make a machine with 8 GB free from files: ``machine({"sys/fs/cgroup/memory.max": "100"})``."""
    monkeypatch.setattr("resource.getrlimit", lambda _: (-1, -1))

    def make(files):
        for name, text in {
            "proc/meminfo": "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n",
            **files,
        }.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return make


def test_cores_are_those_of_joblib_which_knows_quotas(monkeypatch):
    runtime.cpu_count.cache_clear()
    monkeypatch.setattr("joblib.cpu_count", lambda: 3)
    assert runtime.thread_count(None) == runtime.cpu_count() == 3
    assert runtime.thread_count(-2) == 2
    runtime.cpu_count.cache_clear()


def test_free_memory_counts_where_there_are_no_limits(machine):
    assert runtime.available_memory(machine({})) == 8_000_000 * 1024
    unlimited = {
        "proc/self/cgroup": "0::/\n1:memory:/\n",
        "sys/fs/cgroup/memory.max": "max\n",
        "sys/fs/cgroup/memory.current": "5\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": "5\n",
    }
    assert runtime.available_memory(machine(unlimited)) == 8_000_000 * 1024


def test_a_container_leaves_what_its_control_group_leaves(machine):
    """Version 2: the group's own limit, or that of a group around it; cached files count as free."""
    inner = {
        "proc/self/cgroup": "0::/job/step\n",
        "sys/fs/cgroup/job/memory.max": "900\n",
        "sys/fs/cgroup/job/memory.current": "500\n",
        "sys/fs/cgroup/job/step/memory.max": "max\n",
        "sys/fs/cgroup/job/step/memory.current": "100\n",
    }
    assert runtime.available_memory(machine(inner)) == 400
    cached = {"sys/fs/cgroup/job/memory.stat": "anon 300\ninactive_file 150\n"}
    assert runtime.available_memory(machine(cached)) == 550


def test_control_groups_of_version_1(machine):
    files = {
        "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n",  # a path outside of what the container sees
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "1000\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": "700\n",
        "sys/fs/cgroup/memory/memory.stat": "inactive_file 5\ntotal_inactive_file 50\n",
    }
    assert runtime.available_memory(machine(files)) == 350


def test_the_limit_of_the_address_space_counts(machine, monkeypatch):
    root = machine({"proc/self/status": "VmPeak: 9 kB\nVmSize: 2 kB\n"})
    monkeypatch.setattr("resource.getrlimit", lambda _: (5000, 5000))
    monkeypatch.setattr(runtime, "_buffers_taken", True)
    assert runtime.available_memory(root) == 5000 - 2048
    monkeypatch.setattr(runtime, "_buffers_taken", False)  # which would take what is left
    assert runtime.available_memory(root) == 0


def test_available_memory_is_plausible():
    available = runtime.available_memory()
    assert available is None or 10_000_000 < available < 10**14


def test_progress_line(capsys):
    quiet = runtime.Progress("Work", verbose="auto")  # stderr is no terminal here
    quiet.update("half")
    quiet.close("done")
    silent = runtime.Progress("Work", verbose=0)
    silent.update("half")
    assert capsys.readouterr().err == ""
    loud = runtime.Progress("Work", verbose=True)
    loud.update("half")
    loud.close("done")
    err = capsys.readouterr().err
    assert "Work: half" in err
    assert err.rstrip().split("\r")[-1].startswith("Work: done")


def _fit(queue):
    with runtime.single_blas_thread():
        queue.put("done")


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_while_another_thread_holds_a_lock_does_not_hang_the_child(monkeypatch):
    monkeypatch.setattr(runtime, "FORKS_WAIT", 0.1)
    held, release = threading.Event(), threading.Event()

    def hold():
        with runtime.single_blas_thread(), runtime._pool_lock:
            held.set()
            release.wait(300)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(300)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    processes = [context.Process(target=task, args=(queue,)) for task in (_fit, _child)]
    try:
        for process in processes:
            process.start()
        assert {str(queue.get(timeout=300)) for _ in processes} == {"done", "[0, 1, 2, 3]"}
    finally:
        release.set()
        thread.join()
        for process in processes:
            process.kill()


def test_libraries_are_looked_for_again_only_after_an_import(monkeypatch):
    first = runtime.blas_libraries()
    assert runtime.blas_libraries() is first
    monkeypatch.setitem(sys.modules, "a_module_that_may_have_brought_a_library", sys)
    assert runtime.blas_libraries() is not first
    with runtime.single_blas_thread():
        found = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
        assert found
        assert set(found) == {1}
