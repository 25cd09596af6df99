"""The public names, for editors and type checkers; `__init__.py` imports each when it is first used."""

from finsler.inference.alignment import Alignment as Alignment
from finsler.inference.alignment import compare_maps as compare_maps
from finsler.inference.alignment import procrustes as procrustes
from finsler.inference.asymmetry import AsymmetryTest as AsymmetryTest
from finsler.inference.asymmetry import asymmetry_test as asymmetry_test
from finsler.inference.counts import CountTests as CountTests
from finsler.inference.dimensions import CrossValidation as CrossValidation
from finsler.inference.dimensions import Scree as Scree
from finsler.inference.dimensions import cross_validate as cross_validate
from finsler.inference.dimensions import scree as scree
from finsler.inference.ellipses import Confidence as Confidence
from finsler.inference.ellipses import confidence as confidence
from finsler.inference.fit import RandomStress as RandomStress
from finsler.inference.fit import fit_test as fit_test
from finsler.inference.fit import random_stress as random_stress
from finsler.inference.resampling import Jackknife as Jackknife
from finsler.inference.resampling import bootstrap as bootstrap
from finsler.inference.resampling import bootstrap_counts as bootstrap_counts
from finsler.inference.resampling import jackknife as jackknife
from finsler.inference.results import TestResult as TestResult
from finsler.inference.series import Series as Series
