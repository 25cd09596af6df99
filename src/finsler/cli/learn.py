"""``finsler learn`` and ``finsler predict``: a digraph that is completed by its map."""

from __future__ import annotations

from math import isfinite, isnan, nan
from pathlib import Path
from typing import Annotated, Any

import typer

from finsler.cli import options as opt
from finsler.cli.output import say
from finsler.errors import InputError

MODEL = "The model"
TASKS = {
    "existence_mixed": "Existence, against reversed links and pairs without any",
    "direction": "Direction",
    "existence_reciprocal": "Existence of links whose reverse is there",
}
LEARN_EXAMPLES = opt.examples(
    "finsler learn citations.csv --out model.npz --out map.html",
    "finsler learn citations.csv --features words.npz --checkpoint state --out model.npz",
)
PREDICT_EXAMPLES = opt.examples(
    "finsler predict model.npz pairs.csv --out scores.csv",
    "finsler predict model.npz --from paper-17 --top 5",
)


_FEATURES = (
    "Numbers about the nodes: a table with a row each, by label; or .npy, .npz in the order of the nodes."
)
_CHECKPOINT = "Save the state here now and then; if it is there, go on from it."
_ENCODER = "Where the map comes from; auto compares them on held-out pairs."
_OUT = "model.npz for finsler predict; .html .png .svg .pdf .csv for the map. Repeatable."
_PAIRS = "Two columns, from and to, or with names that say which; - reads them from stdin."
_SIZE = "Dimension of what is trained, the height included; a closed form has a dimension of its own."
_HELD_OUT = "Share of the pairs that is held out to choose by; 0 for trees, stars and tiny graphs."

Graph = Annotated[str, typer.Argument(metavar="GRAPH", help="Arcs of a digraph.", show_default=False)]
Features = Annotated[str | None, opt.option(opt.DATA, _FEATURES, metavar="FILE")]
Size = Annotated[
    int | None,
    opt.number(MODEL, _SIZE, "64", "--n-components", "--dim", min=2),
]
Encoder = Annotated[
    str | None, opt.choice(MODEL, "auto|features|structure|direct|closed_form", _ENCODER, "auto")
]
Epochs = Annotated[int | None, opt.number(MODEL, "Passes over the arcs.", "by the number of arcs")]
MissingShare = Annotated[
    float | None,
    opt.option(MODEL, "Share of its arcs that the graph is assumed to lack.", "0.1", metavar="SHARE"),
]
HeldOut = Annotated[float | None, opt.option(MODEL, _HELD_OUT, "0.05", metavar="SHARE")]
Checkpoint = Annotated[str | None, opt.option(MODEL, _CHECKPOINT, metavar="FOLDER")]
Outs = Annotated[list[str] | None, opt.option(opt.OUTPUT, _OUT, False, "--out", "-o", metavar="PATH")]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL.npz", help="Of finsler learn.", show_default=False)]
PairsFile = Annotated[str | None, typer.Argument(metavar="[PAIRS.csv]", help=_PAIRS)]
Start = Annotated[
    str | None, typer.Option("--from", metavar="NODE", help="Rank the likeliest targets of this node.")
]
Top = Annotated[int, typer.Option(min=1, metavar="N", help="How many of them.")]
Known = Annotated[bool, typer.Option("--known", help="Rank arcs that are already known, too.")]
Out = Annotated[str, opt.option(opt.OUTPUT, "Where to; - is stdout.", "-", "--out", "-o", metavar="FILE.csv")]


def learn(
    context: typer.Context,
    file: Graph,
    source: opt.Source = None,
    target: opt.Target = None,
    weight: opt.Weight = None,
    features: Features = None,
    encoder: Encoder = None,
    n_components: Size = None,
    epochs: Epochs = None,
    missing_share: MissingShare = None,
    validation_fraction: HeldOut = None,
    random_state: opt.RandomState = 0,
    time_limit: opt.TimeLimit = None,
    checkpoint: Checkpoint = None,
    n_jobs: opt.Jobs = None,
    out: Outs = None,
    force: opt.Force = False,
    encoding: opt.Encoding = None,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Learn a digraph, to predict which links are missing from it and which way they run.

    Some links are held out for validation and the scores on them printed, beside those of scores without learning: areas
    under ROC curves, 50 is chance.

    Ctrl-C ends the training and still writes the best model so far.
    """
    from finsler.cli import inputs, output
    from finsler.data.point_tables import read_features
    from finsler.learn import LinkPredictor

    targets = output.plan(out, force=force, inputs=[file, features], json=json)
    options = opt.given(context)
    graph = inputs.read({**options, "kind": "edges"}).graph
    values = None
    if features is not None:
        values = read_features(features, graph.labels, graph.n_nodes, encoding=encoding)
    names = (
        "encoder",
        "n_components",
        "epochs",
        "missing_share",
        "validation_fraction",
        "random_state",
        "time_limit",
        "checkpoint",
    )
    model = LinkPredictor(**inputs.chosen(options, *names, *inputs.RUNNING)).fit(graph, features=values)
    # What was learned is on the disk before a word of it is said: who reads the words may stop reading.
    for path in [path for path, suffix in targets if path is not None and suffix == ".npz"]:
        model.save(path)
        if not quiet:
            say(f"Written: {path}")
    output.write([t for t in targets if t.suffix != ".npz"], model.result_, quiet=quiet)
    if not quiet:
        for line in [*map_lines(model), *score_lines(model.scores_)]:
            say(line)
    if json:
        about = {"input": Path(file).name, "nodes": graph.n_nodes, "dimension": model.result_.n_components}
        found = {
            "alpha": model.alpha_,
            "encoder": model.encoder_,
            "status": model.status_,
            "members": model.members_,
            "validation": model.validation_scores_,
            "scores": model.scores_,
        }
        output.print_json({**about, **found, "outputs": [str(path) for path, _ in targets]})
    output.end_as(model.status_)


def map_lines(model: Any) -> list[str]:
    """What was learned, and what scores are made from."""
    n, m = model.embedding_.shape
    members = ", ".join(plain(name) for name in model.members_)
    lines = [
        f"Learned {n:,} nodes; map: {plain(model.members_[0])} in {m} dimensions; drift alpha {model.alpha_:.3f}."
    ]
    if len(model.members_) > 1:
        lines.append(f"Predictions come from {members} together.")
    return lines


def plain(name: str) -> str:
    """Name of a map or of a score in words: "features 1" has a hidden layer."""
    kind, _, layers = name.replace("_", " ").partition(" ")
    if layers.isdigit():
        return f"encoder of {kind} ({'linear' if layers == '0' else f'{layers} hidden layer' + 's' * (layers != '1')})"
    return {"direct": "direct coordinates"}.get(name, name.replace("_", " "))


def score_lines(scores: dict[str, Any]) -> list[str]:
    """What a model reaches on held-out links, beside scores without learning; a warning where one of these is better."""
    lines, better = [], []
    baselines = scores.get("baselines", {})
    for task, words in TASKS.items():
        if not isfinite(scores.get(task, nan)):
            continue
        others = {name.replace("_", " "): found[task] for name, found in baselines.items() if task in found}
        beside = ", ".join(f"{name} {value:.1f}" for name, value in others.items())
        lines.append(
            f"{words}: {scores[task]:.1f} (50 ± {scores['chance_spread'][task]:.1f} is chance, of "
            f"{scores['pairs'][task]:,} pairs); without learning: {beside}."
        )
        best = max(others, key=lambda name: others[name], default="")
        if best and others[best] > scores[task] + 0.05:  # beyond what is printed
            better.append(
                f"Warning: {words[0].lower()}{words[1:]}: {best} alone is better ({others[best]:.1f})."
            )
    found = scores["calibration"]
    if lines:
        lines.insert(
            0,
            "Scores on held-out links, which also chose the maps: expect less on new ones, most of all in small graphs.",
        )
    elif found.get("from") == "held-out arcs":
        lines.append(
            "All held-out links run both ways: no score of existence or direction, and no maps were compared."
        )
    else:
        lines.append("No links were held out: no score of existence or direction, and no maps were compared.")
    if "log_loss" in found:
        missing = found["missing_arcs"]
        count = f"{missing:,.0f}" if missing >= 10 else f"{missing:.2g}"
        lines.append(
            f"Probabilities are those of {found['population']}, if {100 * found['missing_share']:g} % of the arcs are "
            f"missing ({count}); log loss {found['log_loss']:.3g}, {found['log_loss_of_chance']:.3g} "
            "with the same chance for all."
        )
    return lines + better


def predict(
    model_file: ModelFile,
    pairs: PairsFile = None,
    source: Start = None,
    top: Top = 10,
    known: Known = False,
    out: Out = "-",
    force: opt.Force = False,
    encoding: opt.Encoding = None,
) -> None:
    """Predict links: how likely an arc is, and which way it runs if there is one.

    CSV with the columns from, to, probability (that there is an arc this way, of a pair that is not an observed arc, if
    the graph lacks as many arcs as finsler learn was told) and direction (the probability that, if there is one arc
    between the two, it runs this way). Both are empty from a node to itself.
    """
    from finsler.cli import output
    from finsler.data.labels import LabelIndex
    from finsler.data.point_tables import read_label_pairs
    from finsler.learn import LinkPredictor

    if (pairs is None) == (source is None):
        raise InputError("give either PAIRS.csv or --from NODE.")
    (target,) = output.plan([out], force=force, inputs=[model_file, pairs], known=[".csv"])
    model = LinkPredictor.load(model_file)
    nodes = LabelIndex(model.labels_, len(model.embedding_), "node of the model")
    if source is not None:
        start = nodes.label(nodes.from_text(source))
        found = [(start, label) for label, _ in model.rank(start, top, exclude_known=not known)]
    else:
        assert pairs is not None
        found = read_label_pairs(opt.stdin_or(pairs), nodes, encoding=encoding)
    existence, direction = model.predict_proba(found)[:, 1], model.predict_direction(found)
    rows = [
        (str(a), str(b), *("" if isnan(value) else f"{value:.6g}" for value in (p, q)))
        for (a, b), p, q in zip(found, existence, direction, strict=True)
    ]
    output.write_text(target.path, output.csv_text([("from", "to", "probability", "direction"), *rows]))
    if target.path is not None:
        say(f"Written: {target.path}")
