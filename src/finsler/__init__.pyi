"""The public names, for editors and type checkers; `__init__.py` imports each when it is first used."""

from finsler import cells as cells
from finsler import datasets as datasets
from finsler import graphs as graphs
from finsler import inference as inference
from finsler import learn as learn
from finsler import models as models
from finsler import plotting as plotting
from finsler.datasets.flights import load_flight_hours as load_flight_hours
from finsler.embedding import Embedding as Embedding
from finsler.errors import InputError as InputError
from finsler.estimators.isomap import FinslerIsomap as FinslerIsomap
from finsler.estimators.mds import FinslerMDS as FinslerMDS
from finsler.fields import embed_field as embed_field
from finsler.geometry.randers import randers_distances as randers_distances
from finsler.inference.alignment import compare_maps as compare_maps
from finsler.inference.asymmetry import asymmetry_test as asymmetry_test
from finsler.inference.ellipses import confidence as confidence
from finsler.inference.series import embed_series as embed_series
from finsler.layouts import layout as layout
from finsler.learn.digraph import DigraphEmbedding as DigraphEmbedding
from finsler.learn.links import LinkPredictor as LinkPredictor
from finsler.models.compare import compare_models as compare_models
from finsler.recipes import embed_graph as embed_graph
from finsler.recipes import embed_matrix as embed_matrix
from finsler.recipes import embed_pairs as embed_pairs
from finsler.recipes import embed_points as embed_points
from finsler.rectangular import embed_rectangular as embed_rectangular
from finsler.report import asymmetry_report as asymmetry_report

__version__: str
__all__: list[str]
