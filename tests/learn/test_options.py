"""Options of LinkPredictor, and the rules that follow from the size of a graph."""

import json
from dataclasses import FrozenInstanceError, asdict, replace

import pytest

from finsler.learn.options import LinkOptions, candidates, schedule


def test_options_are_plain_values():
    options = LinkOptions(folds=4, radius=2.0)
    assert LinkOptions(**json.loads(json.dumps(asdict(options)))) == options
    assert replace(options, folds=3, radius=None) == LinkOptions()
    with pytest.raises(FrozenInstanceError):
        options.folds = 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("width", 0),
        ("layers", -1),
        ("batch_size", 2.5),
        ("dropout", 1.0),
        ("reversed_share", 1.5),
        ("learning_rate", -1.0),
        ("radius", 0.0),
        ("temperature", float("inf")),
        ("optimizer", "lion"),
    ],
)
def test_bad_options_are_named(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be"):
        LinkOptions(**{name: value})


def test_a_schedule_takes_what_it_is_told():
    told = schedule(LinkOptions(batch_size=7, learning_rate=0.5), 100, n_arcs=5000)
    assert (told.epochs, told.batch_size, told.evaluate_every, told.learning_rate) == (100, 7, 5, 0.5)
    encoder = schedule(LinkOptions(), None, n_arcs=5000, n_lessons=6, direct=False)
    assert (encoder.batch_size, encoder.learning_rate, encoder.weight_decay) == (1024, 3e-3, 1e-4)
    assert schedule(LinkOptions(), None, n_arcs=5000).weight_decay == 0


def test_candidates_follow_the_stated_rules():
    assert candidates("auto", 5_242, False) == ["structure", "direct"]
    assert candidates("auto", 169_343, False) == ["direct"]  # large
    assert candidates("auto", 169_343, True) == ["features", "structure", "direct"]
    assert candidates("closed_form", 5_242, True) == ["closed_form"]
    with pytest.raises(ValueError, match="fit got no features"):
        candidates("features", 10, False)
    with pytest.raises(ValueError, match="encoder must be 'auto'"):
        candidates("gnn", 10, False)
