"""The public names, for editors and type checkers; `__init__.py` imports each when it is first used."""

from finsler.cells.maps import embed as embed
from finsler.cells.maps import find_map as find_map
from finsler.cells.scores import FlowScores as FlowScores
from finsler.cells.scores import cross_boundary_correctness as cross_boundary_correctness
from finsler.cells.scores import in_cluster_coherence as in_cluster_coherence
from finsler.cells.scores import transition_probabilities as transition_probabilities
from finsler.cells.scores import velocities_on_map as velocities_on_map
