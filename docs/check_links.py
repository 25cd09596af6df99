"""Look for dead links inside a built site: python docs/check_links.py docs/_build/html."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Collects what a page links to, and what can be linked to on it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links, pictures, scripts and anchors."""
        for name, value in attrs:
            if value is None:
                continue
            if name in ("href", "src"):
                self.links.append(value)
            elif name in ("id", "name"):
                self.anchors.add(value)


def dead_links(root: Path) -> list[str]:
    """Find links to files or anchors that are not there, one line each."""
    pages = {}
    for path in sorted(
        set(root.rglob("*.html")) - set(root.glob("_static/**/*.html"))
    ):  # a theme keeps templates there
        page = pages[path.resolve()] = Page()
        page.feed(path.read_text(encoding="utf-8"))
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link in ("", "#"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{path.relative_to(root.resolve())}: no file {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{path.relative_to(root.resolve())}: no anchor {link}")
    return found


def main() -> int:
    """Print dead links; 1 if there are any."""
    root = Path(sys.argv[1])
    found = dead_links(root)
    print("\n".join(found) or f"{len(list(root.rglob('*.html')))} pages, no dead internal links.")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
