"""Where compiled code can be kept nowhere, the library works all the same, and says so once."""

import os
import subprocess
import sys

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
    run = subprocess.run([sys.executable, "-c", CODE], env=env, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    stress, said = run.stdout.split()
    assert float(stress) < 0.2
    assert said == "1"
