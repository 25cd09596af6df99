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


def test_cores_are_those_of_joblib_which_knows_quotas(monkeypatch):
    runtime.cpu_count.cache_clear()
    monkeypatch.setattr("joblib.cpu_count", lambda: 3)
    assert runtime.thread_count(None) == runtime.cpu_count() == 3
    assert runtime.thread_count(-2) == 2
    runtime.cpu_count.cache_clear()


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
