"""Pictures are drawn without a screen, and closed after each test."""

import matplotlib.pyplot as plt
import pytest

plt.switch_backend("agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")
