"""``finsler learn`` and ``finsler predict``, from files to files."""

import csv
import io
import json

import numpy as np
import pytest

from helpers import done, mistake, run

pytest.importorskip("torch")
pytest.importorskip("typer")


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    """Papers that cite earlier ones of their own field: arcs, features, and a model."""
    folder = tmp_path_factory.mktemp("papers")
    rng = np.random.default_rng(0)
    arcs = [
        (i, j)
        for i in range(4, 60)
        for j in rng.choice(np.arange(i % 2, i, 2), min(i // 2, 4), replace=False)
    ]
    (folder / "arcs.csv").write_text("from,to\n" + "".join(f"p{i},p{j}\n" for i, j in arcs))
    rows = [f"p{i},{i % 2},{1 - i % 2},{rng.normal():.3f}\n" for i in rng.permutation(60)]
    (folder / "words.csv").write_text("name,even,odd,noise\n" + "".join(rows))
    result = done(
        "learn", folder / "arcs.csv", "--features", folder / "words.csv", "--dim", 4, "--epochs", 8,
        "--n-jobs", 1, "--out", folder / "model.npz", "--out", folder / "map.csv",
    )  # fmt: skip
    return folder, result


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_learning_says_what_it_learned_and_writes_model_and_map(papers):
    folder, result = papers
    assert "Learned 60 nodes" in result.stderr
    for words in (
        "Scores on held-out links",
        "Existence, against",
        "Direction: ",
        "springrank",
        "closed form",
        "log loss",
    ):
        assert words in result.stderr
    coordinates = table((folder / "map.csv").read_text())
    assert len(coordinates) == 60
    assert {row["label"] for row in coordinates} == {f"p{i}" for i in range(60)}


def test_predictions_of_pairs_agree_with_the_library(papers):
    from finsler.learn.links import LinkPredictor

    folder, _ = papers
    pairs = [("p50", "p2"), ("p2", "p50"), ("p9", "p8")]
    (folder / "pairs.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in pairs))
    rows = table(done("predict", folder / "model.npz", folder / "pairs.csv").stdout)
    model = LinkPredictor.load(folder / "model.npz")
    assert [(row["from"], row["to"]) for row in rows] == pairs
    assert np.allclose(
        [float(row["probability"]) for row in rows], model.predict_proba(pairs)[:, 1], rtol=1e-5
    )
    assert np.allclose([float(row["direction"]) for row in rows], model.predict_direction(pairs), rtol=1e-5)


def test_ranking_leaves_out_known_arcs_unless_asked(papers):
    folder, _ = papers
    known = {row["to"] for row in table((folder / "arcs.csv").read_text()) if row["from"] == "p40"}
    new = [
        row["to"] for row in table(done("predict", folder / "model.npz", "--from", "p40", "--top", 55).stdout)
    ]
    assert known
    assert not known & set(new)
    rows = table(done("predict", folder / "model.npz", "--from", "p40", "--top", 59, "--known").stdout)
    assert {row["to"] for row in rows} == {f"p{i}" for i in range(60)} - {"p40"}
    chances = [float(row["probability"]) for row in rows]
    assert chances == sorted(chances, reverse=True)


def test_json(papers):
    folder, _ = papers
    result = done("learn", folder / "arcs.csv", "--dim", 3, "--epochs", 1, "--n-jobs", 1, "--json", "--quiet")
    record = json.loads(result.stdout)
    assert record["nodes"] == 60
    assert record["validation"]
    assert {"direction", "existence_mixed", "baselines", "calibration"} <= set(record["scores"])


def test_a_score_without_learning_that_is_better_is_warned_of():
    from finsler.cli.learn import score_lines

    known = {"population": "pairs", "missing_share": 0.1, "missing_arcs": 9.0, "from": "held-out arcs"}
    told = {"calibration": known, "existence_mixed": 90.0, "direction": 80.0}
    told["pairs"] = {"existence_mixed": 1200, "direction": 600}
    told["chance_spread"] = {"existence_mixed": 1.7, "direction": 2.4}
    told["baselines"] = {"springrank": {"existence_mixed": 70.0, "direction": 80.2}}
    first, existence, _, *others = score_lines(told)
    assert "also chose" in first
    assert existence == (
        "Existence, against reversed links and pairs without any: 90.0 (50 ± 1.7 is chance, of 1,200 pairs); "
        "without learning: springrank 70.0."
    )
    assert others == ["Warning: direction: springrank alone is better (80.2)."]
    told["direction"] = 80.2
    assert len(score_lines(told)) == 3
    assert "run both ways" in score_lines({"calibration": known})[0]
    assert "No links were held out" in score_lines({"calibration": {**known, "from": "others"}})[0]
    told["existence_reciprocal"], told["pairs"]["existence_reciprocal"] = 88.0, 90
    told["chance_spread"]["existence_reciprocal"] = 6.0
    told["baselines"]["adamic_adar_reverse"] = {
        **told["baselines"]["springrank"],
        "existence_reciprocal": 89.0,
    }
    lines = score_lines(told)
    assert lines[3] == (
        "Existence of links whose reverse is there: 88.0 (50 ± 6.0 is chance, of 90 pairs); "
        "without learning: adamic adar reverse 89.0."
    )
    assert lines[4].startswith("Warning: existence of links whose reverse is there: adamic adar reverse")


def test_columns_of_pairs_may_be_named_in_another_order(papers, tmp_path):
    folder, _ = papers
    for name, lines in (("one.csv", "from,to\np50,p2\n"), ("other.csv", "to,from\np2,p50\n")):
        (tmp_path / name).write_text(lines)
    one, other = (
        done("predict", folder / "model.npz", tmp_path / name).stdout for name in ("one.csv", "other.csv")
    )
    assert one == other


def test_a_node_has_no_link_to_itself(papers, tmp_path):
    folder, _ = papers
    (tmp_path / "pairs.csv").write_text("p5,p5\np5,p2\n")
    rows = table(done("predict", folder / "model.npz", tmp_path / "pairs.csv").stdout)
    assert (rows[0]["probability"], rows[0]["direction"]) == ("", "")
    assert 0 < float(rows[1]["probability"]) < 1


def test_what_cannot_be_split_is_learned_whole(tmp_path):
    """As the message advises."""
    (tmp_path / "star.csv").write_text("source,target\n" + "".join(f"a,b{i}\n" for i in range(6)))
    words = mistake("learn", tmp_path / "star.csv", "--out", tmp_path / "star.npz")
    assert "--validation-fraction 0 trains without validation" in words
    given = ("--validation-fraction", 0, "--epochs", 1, "--dim", 3, "--n-jobs", 1)
    said = done("learn", tmp_path / "star.csv", *given, "--out", tmp_path / "star.npz")
    assert "No links were held out" in said.stderr + said.stdout
    assert (tmp_path / "star.npz").is_file()


def test_the_model_is_written_before_anything_is_said_of_it(papers, monkeypatch, tmp_path):
    """Who reads the words may stop reading: finsler learn ... | head -1."""
    from finsler.cli import learn

    folder, _ = papers

    def gone(*_):
        assert (tmp_path / "model.npz").is_file()
        raise BrokenPipeError

    monkeypatch.setattr(learn, "map_lines", gone)
    run(
        "learn",
        folder / "arcs.csv",
        "--epochs",
        1,
        "--dim",
        3,
        "--n-jobs",
        1,
        "--out",
        tmp_path / "model.npz",
    )
    assert (tmp_path / "model.npz").is_file()


def test_mistakes_are_told_in_a_line(papers, tmp_path):
    folder, _ = papers
    model = folder / "model.npz"
    assert "say where" in mistake("learn", folder / "arcs.csv")
    assert "either PAIRS.csv or --from" in mistake("predict", model)
    assert "'p77'. Did you mean" in mistake("predict", model, "--from", "p77")
    (tmp_path / "pairs.csv").write_text("p1,p2\np1,nobody\n")
    assert "'nobody'" in mistake("predict", model, tmp_path / "pairs.csv")
    (tmp_path / "words.csv").write_text("name,topic\n" + "".join(f"p{i},maths\n" for i in range(60)))
    words = mistake(
        "learn", folder / "arcs.csv", "--features", tmp_path / "words.csv", "--out", tmp_path / "m.npz"
    )
    assert "'topic' holds text" in words
    (tmp_path / "few.csv").write_text("name,x\np1,2\n")
    few = mistake(
        "learn", folder / "arcs.csv", "--features", tmp_path / "few.csv", "--out", tmp_path / "m.npz"
    )
    assert "59 of 60 points have no row" in few
    np.save(tmp_path / "short.npy", np.zeros((3, 2)))
    short = mistake(
        "learn", folder / "arcs.csv", "--features", tmp_path / "short.npy", "--out", tmp_path / "m.npz"
    )
    assert "3" in short
    assert "60" in short
    assert not (tmp_path / "m.npz").exists()
