"""Run what `config.json` beside this file lists, as far as it is missing, and write the table.

    python paper/results/table1/run.py [--jobs N]

The graphs are downloaded once, or read from the folder that the environment variable FINSLER_DATA names.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from table1 import run_table1


def main() -> None:
    """Run the first group of cells, then those under "more", which take from it what they do not set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=None, help="threads; all cores by default")
    jobs = parser.parse_args().jobs
    folder = Path(__file__).parent
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    more = config.pop("more", [])
    for changes in [{}, *more]:
        print(run_table1(out=folder, n_jobs=jobs, **{**config, **changes}))


if __name__ == "__main__":
    main()
