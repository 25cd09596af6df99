"""Where compiled code can be kept nowhere, the library works all the same, and says so once."""

import os
import subprocess
import sys
from shutil import which

import pytest

import finsler

CODE = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import finsler
    print(round(finsler.embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]]).normalized_stress, 6))
print(sum("NUMBA_CACHE_DIR" in str(w.message) for w in caught))
"""


def test_no_folder_for_compiled_code():
    env = {**os.environ, "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"}
    env.pop("NUMBA_CACHE_DIR", None)
    run = subprocess.run([sys.executable, "-c", CODE], env=env, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    stress, said = run.stdout.split()
    assert float(stress) < 0.2
    assert said == "1"


NOWHERE = """
import os, tempfile, warnings
folders = [".", os.path.expanduser("~"), "/tmp", "/var/tmp", "/dev/shm", os.environ["PACKAGE"]]
for folder in folders:
    try:
        open(os.path.join(folder, "finsler-test"), "w")
    except OSError:
        continue
    raise SystemExit(f"{folder} can be written to")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import finsler
    print(round(finsler.embed_matrix(finsler.load_flight_hours().hours).normalized_stress, 6))
    print(finsler.embed_graph([("a", "b", 1.0), ("b", "c", 2.0), ("c", "a", 1.5)]).n_points)
print(*{type(w.message).__name__ + ": " + str(w.message) for w in caught}, sep="|")
"""
# All that is there can be read, and nothing written: nobody, with the right to read, between read-only folders.
AS_NOBODY = """
for folder in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o ro,mode=555 none $folder || exit 99; done
exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+dac_read_search --ambient-caps=+dac_read_search "$@"
"""


def test_import_and_fit_as_a_user_who_may_write_nowhere():
    if os.name != "posix" or os.getuid() != 0 or not (which("unshare") and which("setpriv")):
        pytest.skip("only root can become another user")
    package = os.path.dirname(finsler.__file__)
    env = {"HOME": "/nonexistent", "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    if any(path.startswith(("/tmp/", "/var/tmp/")) for path in (package, sys.executable, *sys.path)):
        pytest.skip("a checkout below a temporary folder would be hidden with it")
    run = subprocess.run(
        ["unshare", "-m", "sh", "-c", AS_NOBODY, "sh", sys.executable, "-B", "-c", NOWHERE],
        env={**env, "PACKAGE": package}, cwd="/", capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    if run.returncode == 99:
        pytest.skip("nothing can be mounted here")
    assert run.returncode == 0, run.stderr
    stress, n_points, said = run.stdout.splitlines()
    assert float(stress) < 0.1
    assert n_points == "3"
    ours = [text for text in said.split("|") if "joblib" not in text]  # which says that it has no semaphores
    assert len(ours) == 1
    assert ours[0].startswith("RuntimeWarning: There is no folder in which numba can keep compiled code")
