"""See that sdist and wheel hold what they should: python .ci/look_into.py dist."""

import re
import sys
import tarfile
import zipfile
from pathlib import Path

LARGEST = 300_000  # bytes of a file; pictures are the largest
IN_SDIST = (
    "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "Makefile", "pyproject.toml", "constraints.txt",
    "tests/conftest.py", "docs/conf.py", "tutorials/01_jet_stream.py", "examples/01_flight_hours.py",
    "paper/figures.py", "paper/results/table1/config.json",
)  # fmt: skip
IN_WHEEL = (
    "finsler/__init__.py",
    "finsler/__init__.pyi",
    "finsler/py.typed",
    "finsler/plotting/explorer_assets/page.html",
)


def main() -> None:
    """Fail at the first thing that is not as it should be."""
    folder = Path(sys.argv[1])
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    with tarfile.open(sdist) as archive:
        source = {m.name.split("/", 1)[1]: m.size for m in archive.getmembers() if m.isfile()}
    with zipfile.ZipFile(wheel) as archive:
        built = {info.filename: info.file_size for info in archive.infolist()}
        metadata = next(archive.read(name).decode() for name in built if name.endswith(".dist-info/METADATA"))
    root = Path(__file__).resolve().parents[1]
    version = re.search(
        r'__version__ = "(.+?)"', (root / "src/finsler/__init__.py").read_text(encoding="utf-8")
    )
    assert version is not None
    for name in (sdist.name, wheel.name, metadata):
        assert version[1] in name, f"version {version[1]} is not in {name[:80]}"
    for wanted, there in ((IN_SDIST, source), (IN_WHEEL, built)):
        assert not set(wanted) - set(there), f"missing: {set(wanted) - set(there)}"
    ours = {
        f"finsler/{p.relative_to(root / 'src/finsler').as_posix()}"
        for p in (root / "src/finsler").rglob("*.py*")
        if p.suffix in (".py", ".pyi")
    }
    assert not ours - set(built), f"not in the wheel: {ours - set(built)}"
    strange = [name for name in built if not name.startswith(("finsler/", "finsler-"))]
    assert not strange, f"does not belong into the wheel: {strange}"
    for name, size in {**source, **built}.items():
        assert size <= LARGEST, f"{name} is large: {size:,} bytes"
        assert "__pycache__" not in name, name
    print(
        f"  sdist: {len(source)} files, {sdist.stat().st_size:,} bytes; wheel: {len(built)} files,", end=" "
    )
    print(f"{wheel.stat().st_size:,} bytes; version {version[1]}, py.typed")


if __name__ == "__main__":
    main()
