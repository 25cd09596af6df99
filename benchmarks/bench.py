"""Ratios against peers, measured in one run.

    python benchmarks/bench.py [--json PATH] [--quick] [--large] [--authors FOLDER]

Absolute times depend on the machine and on what else it does; ratios within a run are what counts. Each time is the
least of several repetitions. --large adds a run at N = 20,000 (needs 8 GB free); --authors adds the code that came with the
paper, from a folder that holds its `_mds_finsler.py`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import platform
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import sklearn
from limits import limits, seconds_a_pair
from sklearn.manifold import smacof as sklearn_smacof
from threadpoolctl import threadpool_limits

import finsler
from finsler._runtime import cpu_count
from finsler.data.matrix import as_dissimilarities
from finsler.geometry.randers import randers_distances
from finsler.geometry.stress import axes_first, raw_stress
from finsler.solvers.backends import passes
from finsler.solvers.backends.memory import MemoryBackend
from finsler.solvers.smacof import smacof

SKLEARN = {"n_init": 1, "return_n_iter": True, "normalized_stress": False}


def best_time(task, repeat=5):
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        task()
        times.append(time.perf_counter() - began)
    return min(times)


def symmetric_noise(n, m=3, seed=0):
    """Euclidean distances of random points with 10 % noise: a job that scikit-learn can do, too."""
    rng = np.random.default_rng(seed)
    D = randers_distances(rng.normal(size=(n, m)), drift=0.0)
    noise = np.triu(rng.uniform(0.9, 1.1, size=D.shape), 1)
    D *= noise + noise.T
    return D, rng.normal(size=(n, m))


def per_iteration(n, threads, repeat):
    """Seconds per plain iteration, theirs and ours, from the difference of a long and a short run."""
    D, start = symmetric_noise(n)
    data = as_dissimilarities(D)
    short, long = 2, 12

    def theirs(k):
        with threadpool_limits(threads):
            sklearn_smacof(D, n_components=3, init=start, max_iter=k, eps=0, **SKLEARN)

    def ours(k):
        smacof(data, 3, 0.0, init=start, max_iter=k, tol=0, accelerate=False, n_jobs=threads)

    def each(run, count):
        run(short)
        return (best_time(lambda: run(count), repeat) - best_time(lambda: run(short), repeat)) / (
            count - short
        )

    return each(theirs, long), each(ours, 10 * long)


def to_equal_stress(n, threads, eps=1e-6):
    """Seconds for scikit-learn until it stops, and ours from the same start until the stress is no higher.

    ``eps=1e-6`` is scikit-learn's default, which stops while the stress still falls; 1e-8 is close to the minimum. The round
    with the median ratio of three, one run of theirs and the best of five of ours (50 times shorter) each, begun when the
    threads that theirs woke are asleep again.
    """
    D, start = symmetric_noise(n)
    data = as_dissimilarities(D)

    def race():
        with threadpool_limits(threads):
            began = time.perf_counter()
            X, _, theirs_n = sklearn_smacof(D, n_components=3, init=start, max_iter=1000, eps=eps, **SKLEARN)
            theirs = time.perf_counter() - began
        goal = raw_stress(X, D, drift=0.0)
        time.sleep(0.2)
        found = None

        def run():
            nonlocal found
            found = smacof(
                data,
                3,
                0.0,
                init=start,
                tol=0,
                max_iter=5000,
                n_jobs=threads,
                callback=lambda info: info.stress <= goal,
            )

        ours = best_time(run, 5)
        return {
            "n": n, "threads": threads, "eps": eps, "sklearn_seconds": theirs, "finsler_seconds": ours,
            "ratio": theirs / ours,
            "sklearn_iterations": int(theirs_n), "finsler_passes": found.n_passes, "stress_ratio": found.stress / goal,
        }  # fmt: skip

    rounds = sorted((race() for _ in range(3)), key=lambda r: r["ratio"])
    return rounds[len(rounds) // 2] | {"ratios": [r["ratio"] for r in rounds]}


def one_pass(n, dtype, threads, repeat, *, estimate=False, weighted=False):
    """Seconds of a pass over the pairs: in double precision, in single precision, or with weights that differ both ways.

    With weights only the pass itself counts, not the solution of the equations that follows.
    """
    rng = np.random.default_rng(0)
    D = rng.random((n, n), dtype=dtype)
    np.fill_diagonal(D, 0)
    W = rng.uniform(0.5, 2.0, size=(n, n)) if weighted else None
    X = rng.normal(size=(n, 3))
    omega = np.array([0, 0, 0.5])
    problem = MemoryBackend(as_dissimilarities(D, W), threads).problem(omega)

    def task():
        if weighted:
            problem.panels.sum(passes.weighted_pass, axes_first(X), X @ omega)
        elif estimate:
            problem.estimate(X, omega)
        else:
            problem.evaluate(X, omega)

    task()
    return best_time(task, repeat)


def pass_cases(sizes):
    """Name of a pass, points, how to run it, the bytes that it reads of each pair, and its kind of arithmetic."""
    for n in sizes[-2:]:
        yield "double precision", n, {}, 8, "double"
        yield "single precision", n, {"estimate": True}, 4, "single"
        yield "weights", n, {"weighted": True}, 32, "weights"  # dissimilarity and weight, both ways


def acceleration():
    """Passes over the pairs, plain and accelerated, to the same tolerance."""
    rows = []
    rng = np.random.default_rng(0)
    noisy = randers_distances(rng.normal(size=(1000, 3)), drift=0.5) * rng.uniform(
        0.8, 1.2, size=(1000, 1000)
    )
    np.fill_diagonal(noisy, 0)
    for name, D, init in (
        ("noisy Randers data, N = 1000, closed form", noisy, "classical"),
        ("noisy Randers data, N = 1000, random start", noisy, "random"),
        ("flight hours, N = 64, m = 2, random start", finsler.load_flight_hours().hours, "random"),
    ):
        m = 2 if len(D) == 64 else 3
        plain, fast = (
            smacof(
                as_dissimilarities(D),
                m,
                0.5,
                init=init,
                n_init=1,
                random_state=0,
                max_iter=5000,
                accelerate=a,
            )
            for a in (False, True)
        )
        rows.append({
            "case": name, "plain": plain.n_passes, "accelerated": fast.n_passes,
            "stress_ratio": fast.stress / plain.stress,
        })  # fmt: skip
    return rows


def resident():
    """Bytes of memory in use by this process, from the system."""
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak_beyond_input(task):
    """Run a task while watching the memory of the process; return its result, seconds and the growth at its peak."""
    before = resident()
    peak, done = before, threading.Event()

    def watch():
        nonlocal peak
        while not done.wait(0.01):
            peak = max(peak, resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    try:
        result = task()
    finally:
        done.set()
        watcher.join()
    return result, time.perf_counter() - began, peak - before


def memory(n, dtype):
    """Memory of a fit beyond its input, in a fresh process: what an earlier one gave back would hide what is taken anew."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(memory_here, n, dtype).result()


def memory_here(n, dtype):
    """Fit data in this process, once all that is compiled is there."""
    rng = np.random.default_rng(0)
    small = randers_distances(rng.normal(size=(400, 3)), drift=0.5).astype(dtype)
    finsler.FinslerMDS(3, alpha=0.5, n_init=1, verbose=False).fit(small)
    X = rng.normal(size=(n, 3))
    D = np.empty((n, n), dtype=dtype)
    for start in range(0, n, 1000):  # by blocks, so that the input is made without temporaries of its size
        D[start : start + 1000] = randers_distances(X[start : start + 1000], X, drift=0.5)
    mds = finsler.FinslerMDS(3, alpha=0.5, init=rng.normal(size=(n, 3)), tol=1e-4, verbose=False)
    fitted, seconds, peak = peak_beyond_input(lambda: mds.fit(D))
    return {
        "n": n, "dtype": np.dtype(dtype).name, "input_bytes": D.nbytes, "peak_beyond_input_bytes": peak,
        "seconds": seconds, "iterations": fitted.n_iter_, "normalized_stress": fitted.normalized_stress_,
    }  # fmt: skip


def authors(folder, n):
    """Time an iteration of the paper's own code and of ours, and the stress of both after equal iterations."""
    sys.path.insert(0, str(folder))
    from _mds_finsler import smacof as their_smacof

    rng = np.random.default_rng(0)
    D = randers_distances(rng.normal(size=(n, 3)), drift=0.5) * rng.uniform(0.9, 1.1, size=(n, n))
    np.fill_diagonal(D, 0)
    start = rng.normal(size=(n, 3))
    k = 3
    began = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        X, *_ = their_smacof(
            D, randers_w_alpha=0.5, n_components=3, init=start.copy(), n_init=1, max_iter=k, eps=0,
            normalized_stress=False, check_monotony=False,
        )  # fmt: skip
    theirs = (time.perf_counter() - began) / k
    data = as_dissimilarities(D)
    ours = best_time(lambda: smacof(data, 3, 0.5, init=start, max_iter=30, tol=0, accelerate=False)) / 30
    found = smacof(data, 3, 0.5, init=start, max_iter=k, tol=0, accelerate=False)
    return {
        "n": n, "authors_seconds": theirs, "finsler_seconds": ours, "ratio": theirs / ours,
        "authors_stress_after_3": raw_stress(X, D, drift=0.5), "finsler_stress_after_3": found.stress,
    }  # fmt: skip


def best_limits(cores, rounds=3):
    """The most that the machine did in a few rounds, for one thread and for all: a disturbed round is no limit."""
    found = {}
    for threads in [t for _ in range(rounds) for t in sorted({1, cores})]:
        seen = limits(threads)
        found[threads] = {key: max(value, found.get(threads, seen)[key]) for key, value in seen.items()}
    return found


def show_iterations(result, sizes, cores, repeat, large):
    """A plain iteration, beside one of scikit-learn."""
    print("Per iteration        N  threads   scikit-learn       finsler    ratio")
    result["per_iteration"] = []
    for n in sizes:
        for threads in sorted({1, cores}):
            theirs, ours = per_iteration(n, threads, repeat)
            row = {
                "n": n,
                "threads": threads,
                "sklearn_seconds": theirs,
                "finsler_seconds": ours,
                "ratio": theirs / ours,
            }
            result["per_iteration"].append(row)
            print(f"{n:22d} {threads:8d} {1e3 * theirs:11.2f} ms {1e3 * ours:10.3f} ms {row['ratio']:8.1f}")


def show_equal_stress(result, sizes, cores, repeat, large):
    """Time to the stress at which scikit-learn stops."""
    print("\nTo equal stress      N      eps   scikit-learn       finsler    ratio   iterations -> passes")
    result["to_equal_stress"] = []
    for n, eps in [(n, 1e-6) for n in sizes] + [(n, 1e-8) for n in sizes if n <= 2000]:
        row = to_equal_stress(n, cores, eps)
        result["to_equal_stress"].append(row)
        print(
            f"{n:22d} {eps:8.0e} {row['sklearn_seconds']:12.3f} s {row['finsler_seconds']:11.4f} s {row['ratio']:8.1f}"
            f"   {row['sklearn_iterations']} -> {row['finsler_passes']}"
        )


def show_passes(result, sizes, cores, repeat, large):
    """Passes over the pairs, beside what the machine can do."""
    limit = best_limits(cores)
    result["machine"]["limits"] = limit
    print(
        f"\nOne pass, m = 3; the cores read {limit[cores]['bandwidth'] / 1e9:.1f} GB/s and do "
        f"{limit[cores]['single_operations'] / 1e9:.0f} and {limit[cores]['double_operations'] / 1e9:.0f} GFlop/s"
    )
    print(
        "  pass                     N  threads      pass   ns/pair   of the bandwidth   of the arithmetic   speed-up"
    )
    result["pass"] = []
    for words, n, options_of_pass, itemsize, kind in pass_cases(sizes):
        alone = None
        for threads in sorted({1, cores}):
            seconds = one_pass(n, np.float64, threads, 60, **options_of_pass)
            alone = alone or seconds
            pairs = n * (n - 1) / 2
            row = {
                "pass": words, "n": n, "threads": threads, "seconds": seconds,
                "ns_per_pair": 1e9 * seconds / pairs, "speed_up": alone / seconds,
                "share_of_bandwidth": pairs * itemsize / limit[threads]["bandwidth"] / seconds,
                "share_of_arithmetic": pairs * seconds_a_pair(limit[threads], kind) / seconds,
            }  # fmt: skip
            result["pass"].append(row)
            print(
                f"  {words:20s}{n:6d}{threads:8d} {1e3 * seconds:9.2f} ms {row['ns_per_pair']:7.2f}"
                f" {100 * row['share_of_bandwidth']:14.0f} % {100 * row['share_of_arithmetic']:17.0f} %"
                f" {row['speed_up']:12.2f}"
            )

    grown = [one_pass(n, np.float64, cores, 60) for n in sizes]
    exponent = float(np.polyfit(np.log(sizes), np.log(grown), 1)[0])
    result["growth_exponent"] = exponent
    print(f"\nGrowth of a pass with N over {sizes}: exponent {exponent:.2f} (2 is the number of pairs)")


def show_acceleration(result, sizes, cores, repeat, large):
    """Passes that acceleration saves."""
    result["acceleration"] = acceleration()
    print("\nPasses over the pairs to tol = 1e-7                      plain   accelerated   stress ratio")
    for row in result["acceleration"]:
        print(f"  {row['case']:50s} {row['plain']:9d} {row['accelerated']:13d} {row['stress_ratio']:14.6f}")


def show_memory(result, sizes, cores, repeat, large):
    """Memory beyond the input."""
    result["memory"] = []
    cases = [(sizes[-1], np.float64)] + ([(20_000, np.float32), (20_000, np.float64)] if large else [])
    print("\nMemory            N     data       input   peak beyond input   iterations   seconds")
    for n, dtype in cases:
        row = memory(n, dtype)
        result["memory"].append(row)
        print(
            f"{n:19d}  {row['dtype']:8s} {row['input_bytes'] / 1e9:6.2f} GB {row['peak_beyond_input_bytes'] / 1e9:14.2f} GB"
            f" {row['iterations']:12d} {row['seconds']:9.1f}"
        )


PARTS = {
    "iterations": show_iterations,
    "equal-stress": show_equal_stress,
    "passes": show_passes,
    "acceleration": show_acceleration,
    "memory": show_memory,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, default=Path(__file__).with_name("bench.json"))
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--large", action="store_true", help="also N = 20,000")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, help="these parts; the others stay as they are in the file"
    )
    parser.add_argument("--authors", type=Path, help="folder with the paper's own code")
    options = parser.parse_args()
    cores = cpu_count()
    sizes = [500, 1000] if options.quick else [500, 1000, 2000, 5000]
    result = json.loads(options.json.read_text(encoding="utf-8")) if options.only else {}
    result |= {
        "machine": {"cores": cores, "processor": platform.machine(), "python": platform.python_version(),
                    "numpy": np.__version__, "scikit-learn": sklearn.__version__, "finsler": finsler.__version__,
                    "limits": result.get("machine", {}).get("limits")},
    }  # fmt: skip

    print(
        f"{cores} cores, scikit-learn {sklearn.__version__}. Symmetric data, m = 3, alpha = 0, the same start.\n"
    )
    for name in options.only or PARTS:
        PARTS[name](result, sizes, cores, 3, options.large)

    if options.authors:
        result["authors"] = [authors(options.authors, n) for n in (200, 500)]
        print(
            "\nThe paper's own code, alpha = 0.5, per iteration        N       theirs         ours    ratio"
        )
        for row in result["authors"]:
            print(
                f"{row['n']:57d} {row['authors_seconds']:10.3f} s {1e3 * row['finsler_seconds']:9.3f} ms {row['ratio']:8.0f}"
                f"   stress after 3 iterations {row['authors_stress_after_3']:.4g} / {row['finsler_stress_after_3']:.4g}"
            )

    options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"\nWritten to {options.json}")


if __name__ == "__main__":
    main()
