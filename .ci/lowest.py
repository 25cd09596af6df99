"""Print the lowest versions that pyproject.toml allows, as constraints for pip: python .ci/lowest.py [extra ...]."""

import re
import sys
from pathlib import Path


def lowest(text: str, extras: list[str]) -> list[str]:
    """``name==version`` for every ``name>=version`` of the base and of the extras."""
    parts = [re.search(r"^dependencies = \[(.*?)^\]", text, flags=re.DOTALL | re.MULTILINE)]
    parts += [re.search(rf"^{extra} = (\[.*?\]\n)", text, flags=re.DOTALL | re.MULTILINE) for extra in extras]
    found = []
    for part in parts:
        assert part is not None, f"pyproject.toml has no such extra; asked for {extras}"
        found += re.findall(r'"([\w-]+)(?:\[\w+\])?>=([\w.]+)"', part[1])
    return [f"{name}=={version}" for name, version in found]


if __name__ == "__main__":
    project = Path(__file__).resolve().parents[1] / "pyproject.toml"
    print("\n".join(lowest(project.read_text(encoding="utf-8"), sys.argv[1:])))
