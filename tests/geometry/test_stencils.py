"""Stencils of lattices: directions, the cells that edges pass, and how much too long ways are."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finsler.geometry.randers import zermelo_metric
from finsler.geometry.stencils import (
    MOST_DETOUR,
    MOST_TURN,
    TURNS,
    detours,
    passed,
    sharpness,
    stencil,
    turns_for,
)


@given(st.floats(-5, 5))
def test_directions_are_close_enough_whatever_the_cells(log_aspect):
    aspect = 2.0**log_aspect
    found = stencil(aspect)
    assert set(found) == {(-a, -b) for a, b in found}
    assert len(set(found)) == len(found) <= 70
    assert {(1, 0), (0, 1), (1, 1)} <= set(found)
    assert all(math.gcd(a, b) == 1 for a, b in found)
    angles = np.sort([math.atan2(aspect * b, a) for a, b in found])
    assert np.diff(np.append(angles, angles[0] + 2 * np.pi)).max() <= MOST_TURN * (1 + 1e-6)


def cells_on_the_line(a, b):
    """Independent of the formula: clip the segment against each closed square, in fractions."""
    half, found = Fraction(1, 2), set()
    for i in range(-9, 10):
        for j in range(-9, 10):
            low, high = Fraction(0), Fraction(1)
            for step, at in ((a, i), (b, j)):
                if step == 0:
                    if not at - half <= 0 <= at + half:
                        low, high = Fraction(1), Fraction(0)
                    continue
                ends = sorted([(at - half) / step, (at + half) / step])
                low, high = max(low, ends[0]), min(high, ends[1])
            if low <= high:
                found.add((i, j))
    return found


@pytest.mark.parametrize("offset", stencil())
def test_the_cells_that_an_edge_touches(offset):
    way = passed(offset)
    inside = {(i, j) for i, j in cells_on_the_line(*offset)}
    a, b = offset
    box = {(i, j) for i in range(min(a, 0), max(a, 0) + 1) for j in range(min(b, 0), max(b, 0) + 1)}
    assert set(way.touched) == inside & box
    assert all(cell in way.touched for cell, _ in way.weights)
    assert sum(weight for _, weight in way.weights) == pytest.approx(1)
    # A function that is linear in the plane is integrated exactly where no cell is left out.
    middle = np.sum([np.multiply(cell, weight) for cell, weight in way.weights], axis=0)
    np.testing.assert_allclose(middle, np.array(offset) / 2, atol=1e-9)


def test_edges_between_every_third_cell_touch_cells_of_the_grid():
    assert set(passed((1, 1), 3).touched) == cells_on_the_line(3, 3) & {
        (i, j) for i in range(4) for j in range(4)
    }
    assert passed((1, 1), 3).weights == passed((1, 1)).weights


def test_sharpness_is_the_curvature_of_costs():
    """By differences of the costs themselves, at many more directions."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 2, 2))
    M = A @ A.transpose(0, 2, 1) + np.eye(2)
    omega = 0.3 * rng.uniform(-1, 1, (30, 2))
    h = 2 * np.pi / 20_000
    turns = h * np.arange(20_000)
    ways = np.column_stack([np.cos(turns), np.sin(turns)])
    for metric, drift, found in zip(M, omega, sharpness(M, omega), strict=True):
        cost = np.sqrt(np.einsum("ti,ij,tj->t", ways, metric, ways)) + ways @ drift
        bend = (np.roll(cost, 1) - 2 * cost + np.roll(cost, -1)) / h**2
        assert found == pytest.approx(((cost + bend) / cost).max(), rel=0.03)
    assert sharpness(None, None) == 1
    np.testing.assert_allclose(sharpness(None, omega), sharpness(np.broadcast_to(np.eye(2), M.shape), omega))


@pytest.mark.parametrize("pace", [0.0, 0.5, 0.7, 0.8, 0.85, 0.9, 0.94])
def test_turns_keep_detours_within_two_percent(pace):
    turns = np.linspace(0, np.pi / 2, 7)
    M, omega = zermelo_metric(pace * np.column_stack([np.cos(turns), np.sin(turns)]))
    turn = turns_for(sharpness(M, omega)).min()
    ones = np.ones(len(turns))
    assert detours(ones, ones, M, omega, stencil(1.0, turn)).max() < 1.03 * MOST_DETOUR
    if turn < MOST_TURN:  # and no more directions than it takes
        coarser = stencil(1.0, TURNS[TURNS.index(turn) - 1])
        assert detours(ones, ones, M, omega, coarser).max() > 0.8 * MOST_DETOUR


@pytest.mark.parametrize("current", [(0.0, 0.0), (0.3, -0.2), (0.0, 0.6), (-0.5, 0.5)])
def test_detours_are_those_of_the_best_two_edges(current):
    M, omega = zermelo_metric(np.array([current]))
    found = detours(np.array([1.0]), np.array([1.5]), M, omega, stencil(1.5))[0]
    edges = np.array(stencil(1.5)) * (1.0, 1.5)

    def time(u):  # of a boat of speed 1: || u - current t || = t
        c = np.array(current)
        p, q = u @ c, 1 - c @ c
        return (np.sqrt(p * p + q * (u @ u)) - p) / q

    n = len(found)
    for k in range(0, n, 13):
        angle = -np.pi + 2 * np.pi * k / n + np.pi / (2 * n)
        way, best = np.array([np.cos(angle), np.sin(angle)]), np.inf
        for one in edges:
            for two in edges:
                across = np.column_stack([one, two])
                if abs(np.linalg.det(across)) > 1e-9:
                    parts = np.linalg.solve(across, way)
                    if parts.min() > -1e-9:
                        best = min(best, parts[0] * time(one) + parts[1] * time(two))
        assert found[k] == pytest.approx(best / time(way) - 1, abs=1e-9)
