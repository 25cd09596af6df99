"""How the site is built: ``make docs`` from the root of the repository."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

import matplotlib

matplotlib.use("agg")

import finsler

project = "finsler"
author = "The finsler developers"
copyright = "The finsler developers"
version = release = finsler.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "public_names",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "**/GALLERY_HEADER.txt"]

# Formulas are turned into MathML when the site is built: no script, no network, and they can be selected and read aloud.
html_math_renderer = "mathml"
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it, in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

plot_include_source = False
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("png", 130)]
plot_basedir = str(HERE)
plot_rcparams = {"figure.constrained_layout.use": True, "font.size": 9}
plot_apply_rcparams = True

sphinx_gallery_conf = {
    "examples_dirs": ["../tutorials", "../examples"],
    "gallery_dirs": ["tutorials", "gallery"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("pictures_of_examples",),
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,  # every page says its own
    "min_reported_time": 0,
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "matplotlib_animations": False,
    "plot_gallery": True,
    "show_signature": False,
    "capture_repr": (),
    "reference_url": {},
    "nested_sections": False,
    "copyfile_regex": r".*\.csv",
}

html_theme = "furo"
html_title = f"finsler {release}"
html_static_path = ["_static"]
html_css_files = ["finsler.css"]
html_show_sourcelink = False
html_copy_source = False
