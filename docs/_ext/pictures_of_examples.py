"""Which pictures of a script the gallery shows: those it wrote to ``output/``, else the figures it left open."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper

# When each picture was last shown; those older than this build are of earlier runs.
_BEGIN = time.time_ns()
_shown: dict[Path, int] = {}


def example_pictures(
    block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any], **options: Any
) -> str:
    """Collect the pictures of a block of code, as sphinx-gallery asks for them."""
    folder = Path(block_vars["src_file"]).parent / "output"
    times = {path: path.stat().st_mtime_ns for path in sorted(folder.glob("*.png"))}
    written = [path for path, when in times.items() if when > _shown.get(path, _BEGIN)]
    if not written:
        return matplotlib_scraper(block, block_vars, gallery_conf, **options)

    import matplotlib.pyplot as plt

    plt.close("all")  # a figure that was saved is not shown twice
    copies = []
    for path, target in zip(written, block_vars["image_path_iterator"], strict=False):
        _shown[path] = times[path]
        shutil.copyfile(path, target)
        copies.append(target)
    return figure_rst(copies, gallery_conf["src_dir"])


def _get_sg_image_scraper() -> Any:
    """Where sphinx-gallery looks for the function, given the name of this module."""
    return example_pictures
