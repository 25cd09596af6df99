"""A small picture of a map for notebooks: SVG made by hand, without matplotlib. Points are colored by height."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from finsler._html import escaped
from finsler.plotting.colors import SCALE_ON_DARK

if TYPE_CHECKING:
    from finsler.embedding import Embedding

WIDTH, HEIGHT, MARGIN = 360, 270, 18
LEAST_HEIGHT = 100
LONGEST_LABEL = 24
MOST_POINTS = 1_000  # beyond, so many are drawn
MOST_LABELS = 25


def thumbnail(embedding: Embedding) -> tuple[str, str]:
    """SVG of a map, and a remark on what it leaves out ("" if nothing).

    Drawn are the first axis and the height, with equal scales; of a map of one dimension the height alone.

    Examples
    --------
    >>> import finsler
    >>> svg, left_out = thumbnail(finsler.embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]]))
    >>> svg.count("<circle"), left_out
    (3, '')
    """
    n, m = embedding.n_points, embedding.n_components
    X = embedding.coordinates
    flat = np.column_stack([X[:, 0] if m > 1 else np.zeros(n), X[:, -1]])
    remarks = [f"The picture shows its first axis and its height; there are {m} axes."] if m > 2 else []
    drawn = np.arange(n)
    if n > MOST_POINTS:
        drawn = np.sort(np.random.default_rng(0).choice(n, MOST_POINTS, replace=False))
        remarks.append(f"The picture shows a random {MOST_POINTS:,} of the {n:,} points.")
    low, span = flat.min(axis=0), np.ptp(flat, axis=0)
    room = np.array([WIDTH, HEIGHT]) - 2 * MARGIN
    scale = float(np.min(room / np.where(span > 0, span, np.inf))) if span.any() else 1.0
    tall = int(np.clip(scale * span[1] + 2 * MARGIN, LEAST_HEIGHT, HEIGHT))
    place = (np.array([WIDTH, tall]) - scale * span) / 2 + scale * (flat - low)
    place[:, 1] = tall - place[:, 1]
    share = (flat[:, 1] - low[1]) / span[1] if span[1] > 0 else np.zeros(n)
    color = np.minimum((share * len(SCALE_ON_DARK)).astype(int), len(SCALE_ON_DARK) - 1)
    radius = 4.0 if n <= 60 else 2.5
    names = range(n) if embedding.labels is None else embedding.labels
    parts = []
    for i in drawn.tolist():
        (x, y), name = place[i], str(names[i])
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{SCALE_ON_DARK[color[i]]}" stroke="currentColor" '
            f'stroke-opacity=".35" stroke-width=".7"><title>{escaped(name)}</title></circle>'
        )
        if n <= MOST_LABELS and embedding.labels is not None:
            left = x > WIDTH / 2
            short = name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 1]}…"
            parts.append(
                f'<text x="{x + (-6 if left else 6):.1f}" y="{y + 3.5:.1f}" font-size="10.5" fill="currentColor" '
                f'text-anchor="{"end" if left else "start"}">{escaped(short)}</text>'
            )
    parts += _key(embedding)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{tall}" viewBox="0 0 {WIDTH} {tall}" '
        f'role="img" aria-label="The map" style="max-width:100%;font-family:sans-serif">{"".join(parts)}</svg>'
    )
    return svg, " ".join(remarks)


def _key(embedding: Embedding) -> list[str]:
    """An arrow up, if up costs more everywhere."""
    if embedding.swirl is not None or embedding.alpha == 0:
        return []
    top, foot, x = 26, 62, 10
    return [
        f'<path d="M{x} {foot}V{top}m-3.5 6l3.5-6l3.5 6" fill="none" stroke="#d55e00" stroke-width="1.6"/>',
        f'<text x="2" y="{top - 12}" font-size="10.5" fill="currentColor">up costs more</text>',
    ]
