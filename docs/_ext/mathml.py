"""Formulas as MathML, made by docutils while the site is built: browsers draw it without a script or a network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml


def _convert(writer: Any, node: nodes.Element, as_block: bool) -> None:
    source = node.astext()
    try:
        formula = tex2mathml(source, as_block=as_block)
    except MathError as error:  # a warning, and so an error of the build
        raise ValueError(f"The formula {source!r} cannot be turned into MathML: {error}") from error
    writer.body.append(f'<div class="math">{formula}</div>\n' if as_block else formula)
    raise nodes.SkipNode


def inline(writer: Any, node: nodes.Element) -> None:
    """Write a formula in a line."""
    _convert(writer, node, as_block=False)


def block(writer: Any, node: nodes.Element) -> None:
    """Write a formula that stands by itself."""
    _convert(writer, node, as_block=True)


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
