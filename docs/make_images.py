"""Draw the pictures of the README and of docs/paper.md anew: python docs/make_images.py."""

import runpy
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("agg")

from PIL import Image

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "paper"))

from figures import FIGURES, reproduce


def shrink(source: Path, target: Path, width: int = 1300) -> None:
    """Save a picture at a size that a repository should carry."""
    with Image.open(source) as picture:
        height = round(picture.height * width / picture.width)
        small = picture.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
        small.quantize(256).save(target, optimize=True)


def main() -> None:
    """Make all pictures."""
    with tempfile.TemporaryDirectory() as folder:
        for name in FIGURES:
            picture, _ = reproduce(name, folder)
            shrink(picture, HERE / "images" / f"{name}.png")
    runpy.run_path(str(HERE.parent / "examples" / "01_flight_hours.py"))
    shrink(Path("output/flight_hours.png"), HERE / "images" / "flight_hours.png", 1100)


if __name__ == "__main__":
    main()
