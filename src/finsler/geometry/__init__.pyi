"""The names of `finsler.geometry`, for editors and type checkers."""

from finsler.geometry.asymmetry import asymmetry_shown as asymmetry_shown
from finsler.geometry.disparities import Transformation as Transformation
from finsler.geometry.heights import gradient_heights as gradient_heights
from finsler.geometry.heights import local_extrema as local_extrema
from finsler.geometry.pairs import AsymmetryShown as AsymmetryShown
from finsler.geometry.randers import check_randers as check_randers
from finsler.geometry.randers import drift_vector as drift_vector
from finsler.geometry.randers import randers_distances as randers_distances
from finsler.geometry.randers import randers_norm as randers_norm
from finsler.geometry.randers import zermelo_metric as zermelo_metric
from finsler.geometry.scaling import Scaling as Scaling
from finsler.geometry.stress import normalized_stress as normalized_stress
from finsler.geometry.stress import raw_stress as raw_stress
from finsler.geometry.stress import stress1 as stress1
