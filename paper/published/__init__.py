"""Published methods of link prediction in digraphs, written from their formulas, and controls that an expert would ask for.

Each is a function ``method(sight, *, seed, **settings) -> Logits``. A `Sight` holds what a method may see: the observed
arcs, the features of the nodes, and the validation pairs, by which an epoch is chosen. Test pairs are not in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Method:
    """A row of the table."""

    label: str
    function: str  #: Module and name, imported when it is run.
    #: Fixed settings, which make the row what it is.
    settings: dict[str, Any] = field(default_factory=dict)
    #: Settings of which the best is chosen on the validation pairs of split 0.
    grid: dict[str, list[Any]] = field(default_factory=dict)
    additive: bool = False  #: Whether logit(i, j) = a(i) + b(j): no term in the pair.
    needs_features: bool = False
    #: Whether it sees the arcs that are held out, to explain a published figure; such a row does not count.
    leaks: bool = False
    like: str = ""  #: The row whose settings it takes, so that the two differ by nothing else.

    def __call__(self, sight: Any, *, seed: int = 0, **settings: Any) -> Any:
        """Train it on what may be seen."""
        module, name = self.function.split(".")
        run: Callable[..., Any] = getattr(import_module(f"published.{module}"), name)
        return run(sight, seed=seed, **{**self.settings, **settings})


FEATURES = {"inputs": "features"}
# Of NERD. With a walk size of 1 there is no context to be joint, so that two of the twelve are others once more.
WALKS = {"walks_per_arc": [30, 100], "walk_size": [1, 3, 5], "joint": [False, True]}

METHODS: dict[str, Method] = {
    "degree_regression": Method(
        "logistic regression on degrees", "controls.degree_regression", additive=True
    ),
    "degree_mlp": Method("MLP on degrees", "controls.degree_mlp"),
    "bilinear": Method(
        "bilinear with biases",
        "autoencoders.bilinear",
        grid={"dim": [32, 64], "weight_decay": [1e-4, 1e-3, 1e-2]},
    ),
    "hope": Method("HOPE", "controls.hope", grid={"decay": [0.1, 0.5, 0.9], "dim": [32, 128]}),
    "strap": Method("STRAP", "controls.strap", grid={"dim": [32, 64, 128]}),
    "nerd": Method(
        "NERD, inner product",
        "nerd.nerd",
        {"readout": "product"},
        WALKS,
    ),
    "nerd_raw": Method(
        "NERD, inner product, untrained vectors as they are",
        "nerd.nerd",
        {"readout": "raw product"},
        WALKS,
    ),
    "nerd_readout": Method(
        "NERD, linear readout",
        "nerd.nerd",
        {"readout": "linear"},
        WALKS,
        additive=True,
    ),
    "digae": Method(
        "DiGAE, degrees",
        "autoencoders.digae",
        {"inputs": "degrees"},
        {"layers": [1, 2], "alpha": [0.0, 0.4, 0.8], "beta": [0.0, 0.4]},
    ),
    "digae_features": Method(
        "DiGAE, features",
        "autoencoders.digae",
        FEATURES,
        {"layers": [1, 2], "alpha": [0.0, 0.4, 0.8], "beta": [0.0, 0.4]},
        needs_features=True,
    ),
    "digae_identity": Method(
        "DiGAE, free vectors",
        "autoencoders.digae",
        {"inputs": "identity"},
        {"layers": [1], "alpha": [0.0, 0.4, 0.8], "beta": [0.0, 0.4]},
    ),
    "digae_mixed": Method(
        "DiGAE, best inputs, mixed negatives",
        "autoencoders.digae",
        {"negatives": "mixed", "layers": 1},
        {"inputs": ["features", "identity"], "alpha": [0.0, 0.4, 0.8], "beta": [0.0, 0.4]},
    ),
    "sdgae": Method(
        "SDGAE, degrees",
        "autoencoders.sdgae",
        {"inputs": "degrees"},
        {"hops": [3, 5], "learning_rate": [1e-2, 5e-3]},
    ),
    "sdgae_features": Method(
        "SDGAE, features",
        "autoencoders.sdgae",
        FEATURES,
        {"hops": [3, 5], "learning_rate": [1e-2, 5e-3]},
        needs_features=True,
    ),
    "gravity": Method(
        "Gravity GAE, degrees", "autoencoders.gravity", {"inputs": "degrees"}, {"pull": [0.05, 1.0, 10.0]}
    ),
    "gravity_features": Method(
        "Gravity GAE, features",
        "autoencoders.gravity",
        FEATURES,
        {"pull": [0.05, 1.0, 10.0]},
        needs_features=True,
    ),
    "odin": Method(
        "ODIN, inner product",
        "odin.odin",
        {"readout": "product"},
        {"learning_rate": [1e-3, 1e-2], "epochs": [50, 100]},
    ),
    "odin_readout": Method(
        "ODIN, linear readout",
        "odin.odin",
        {"readout": "linear"},
        {"learning_rate": [1e-3, 1e-2], "epochs": [50, 100]},
        additive=True,
    ),
    "duplex": Method(
        "DUPLEX, observed arcs only",
        "duplex.duplex",
        grid={"learning_rate": [1e-3, 1e-2], "fusion": [False, True]},
    ),
    "duplex_features": Method(
        "DUPLEX, features, observed arcs only",
        "duplex.duplex",
        FEATURES,
        {"learning_rate": [1e-3, 1e-2], "fusion": [False, True]},
        needs_features=True,
    ),
    "duplex_leak": Method(
        "DUPLEX as released: held-out arcs visible", "duplex.duplex", leaks=True, like="duplex"
    ),
    "magnet": Method(
        "MagNet, degrees",
        "spectral.magnet",
        {"inputs": "degrees"},
        {"q": [0.05, 0.15, 0.25], "learning_rate": [1e-3, 5e-3]},
        additive=True,
    ),
    "magnet_features": Method(
        "MagNet, features",
        "spectral.magnet",
        FEATURES,
        {"q": [0.05, 0.15, 0.25], "learning_rate": [1e-3, 5e-3]},
        additive=True,
        needs_features=True,
    ),
    "digcn": Method(
        "DiGCN, degrees",
        "spectral.digcn",
        {"inputs": "degrees"},
        {"teleport": [0.05, 0.1, 0.2], "learning_rate": [1e-3, 1e-2]},
        additive=True,
    ),
    "digcn_features": Method(
        "DiGCN, features",
        "spectral.digcn",
        FEATURES,
        {"teleport": [0.05, 0.1, 0.2], "learning_rate": [1e-3, 1e-2]},
        additive=True,
        needs_features=True,
    ),
    "digcn_ib": Method(
        "DiGCN with inception, degrees",
        "spectral.digcn_inception",
        {"inputs": "degrees"},
        {"learning_rate": [1e-3, 1e-2]},
        additive=True,
    ),
    "digcn_ib_features": Method(
        "DiGCN with inception, features",
        "spectral.digcn_inception",
        FEATURES,
        {"learning_rate": [1e-3, 1e-2]},
        additive=True,
        needs_features=True,
    ),
    "iqe": Method("IQE: our inputs and loss, another distance", "distances.iqe", grid={"n_parts": [4, 8]}),
    "randers": Method("Randers: the same with our distance", "distances.randers"),
    "euclidean": Method("Euclidean: the same without a drift", "distances.randers", {"alpha": 0.0}),
}
