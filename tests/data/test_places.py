"""Where points really are."""

import numpy as np

from finsler.data.places import places


def test_degrees_come_before_axes_and_any_case_is_known():
    found = places({"x": [1, 2], "y": [3, 4], "LATITUDE": [50, np.nan], "Longitude": [200, 8]})
    assert found.geographic
    assert found.names == ("Longitude", "LATITUDE")
    assert found.known.tolist() == [True, False]


def test_what_cannot_be_degrees_is_not_taken_for_them():
    assert places({"lon": [500.0, 1], "lat": [1.0, 2]}) is None
    assert not places({"lon": [5.0, 1], "lat": [91.0, 2], "x": [0, 1], "y": [1, 0]}).geographic
    assert places({"lon": ["a", "b"], "lat": [1, 2]}) is None
    assert places({"lon": [np.nan, 1.0], "lat": [1.0, np.nan]}) is None
    assert places({}) is None
