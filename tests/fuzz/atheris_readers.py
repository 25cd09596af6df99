"""Coverage-guided fuzzing of the readers: ``make fuzz-readers``, or this script with ``-max_total_time=600``.

The first byte of an input chooses the name of the file, the rest is what is in it. Options are those of libFuzzer; without a
folder of inputs it starts from the sound files of `corpus.seeds`. Whatever is not an error of one line ends the run, and is
kept in ``crash-...``. Needs atheris, which is on PyPI for CPython up to 3.13 on Linux and macOS.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

try:
    import atheris
except ImportError:
    sys.exit("Coverage-guided fuzzing needs atheris: pip install atheris. (make fuzz does without.)")

READERS = ["finsler.data", "finsler.graphs", "finsler._read", "finsler._io", "finsler.embedding"]
with atheris.instrument_imports(include=READERS):
    from corpus import seeds
    from readers import entries, tried

SOUND = seeds()
NAMES = sorted(SOUND)
FOLDER = Path(tempfile.mkdtemp(prefix="finsler-fuzz-"))


def one_input(data: bytes) -> None:
    """Write a file and try all ways into the library."""
    if not data:
        return
    path = FOLDER / NAMES[data[0] % len(NAMES)]
    path.write_bytes(data[1:])
    for way, function in entries(path, learn=False).items():
        trouble = tried(function)
        if trouble:
            raise AssertionError(f"{way} of {path.name}: {trouble}")


if __name__ == "__main__":
    arguments = list(sys.argv)
    if not [given for given in arguments[1:] if not given.startswith("-")]:
        start = FOLDER / "inputs"
        start.mkdir()
        for k, name in enumerate(NAMES):
            (start / name).write_bytes(bytes([k]) + SOUND[name])
        arguments.append(str(start))
    atheris.Setup(arguments, one_input)
    atheris.Fuzz()
