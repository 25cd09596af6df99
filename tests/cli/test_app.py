"""Help, exit codes, bugs and Ctrl-C."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("typer")
import typer

import finsler
from finsler.cli import inputs, main
from finsler.cli.app import app

from helpers import SMALL, done, run, shell

COMMANDS = [
    f"{name} {part}".strip()
    for name, command in typer.main.get_command(app).commands.items()
    for part in getattr(command, "commands", [""])
]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_examples(command):
    result = done(*command.split(), "--help")
    assert f"Usage: finsler {command}".strip() in result.stdout.replace("root", "finsler")
    assert "Examples:" in result.stdout
    assert f"finsler {command}".strip() in result.stdout


def test_version_and_no_command():
    assert done("--version").stdout == f"finsler {finsler.__version__}\n"
    assert "embed" in done().stdout


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom finsler.cli import main\ncode = main(['embed', '--help'])\n"
        "print(code, [m for m in ('numpy', 'numba', 'sklearn', 'matplotlib') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines()[-1] == "0 []"


def test_warnings_are_lines():
    result = done("embed", "-", "--kind", "edges", "--out", "-", "-q", input="a,a\na,b\nb,c\nc,a\n")
    assert result.stderr == "finsler: warning: The graph was simplified: dropped 1 self-loop.\n"
    unfinished = done("embed", "-", "--out", "-", "-q", "--max-iter", "0", "--init", "random", input=SMALL)
    assert unfinished.stderr.startswith("finsler: warning: It reached max_iter = 0")


def look_up(*_):
    return {}["a bug"]


def broadcast(*_):
    return np.ones(2) + np.ones(3)


@pytest.mark.parametrize("bug", [look_up, broadcast])
def test_bugs_keep_their_traceback(small, monkeypatch, bug):
    monkeypatch.setattr(inputs, "find_map", bug)
    result = run("embed", small, "--json")
    assert result.exit_code == 1
    assert isinstance(result.exception, KeyError | ValueError)


def test_exit_codes_of_a_process(small, tmp_path):
    good = shell("embed", "-", "--out", "-", input=SMALL)
    assert (good.returncode, good.stdout.count("\n")) == (0, 5)
    assert good.stderr.startswith("stdin: a 4 x 4 matrix with labels\n")
    bad = shell("embed", tmp_path / "nothing.csv", "--out", "-")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == f"finsler: There is no file {tmp_path / 'nothing.csv'}.\n"
    code = (
        "import sys, finsler.cli.inputs, finsler.cli as cli\n"
        "finsler.cli.inputs.find_map = lambda *_: {}['a bug']\n"
        f"sys.exit(cli.main(['embed', {str(small)!r}, '--json']))"
    )
    bug = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert bug.returncode == 1
    assert "Traceback" in bug.stderr
    assert "KeyError: 'a bug'" in bug.stderr


def test_main_returns_the_code(capsys):
    assert main(["--version"]) == 0
    assert main(["distance", "nothing.npz", "A", "B"]) == 2
    assert "There is no file nothing.npz" in capsys.readouterr().err


def interrupted(module, name, when, args):
    """Run the command in a process that sends itself a real Ctrl-C when a function is called for the n-th time."""
    code = f"""
import os, signal, sys
import {module} as module
from finsler.cli import main
kept, calls = getattr({name.rpartition(".")[0] or "module"}, {name.rpartition(".")[2]!r}), 0
def watched(*args, **options):
    global calls
    calls += 1
    if calls == {when}:
        os.kill(os.getpid(), signal.SIGINT)
    return kept(*args, **options)
{"" if "." in name else "module."}{name} = watched
sys.exit(main({[str(arg) for arg in args]!r}))
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)


def test_ctrl_c_writes_the_best_map_so_far(flights, tmp_path):
    folder, _ = flights
    outs = ["--out", tmp_path / "map.npz", "--out", tmp_path / "map.csv"]
    args = ["embed", folder / "times.csv", "--init", "random", "--n-init", "1", *outs]
    result = interrupted("finsler._runtime", "module.Progress.update", 4, args)
    assert result.returncode == 130, result.stderr
    assert "interrupted: Ctrl-C after" in result.stderr
    assert "stopped by Ctrl-C; what was found so far was written." in result.stderr
    assert "Traceback" not in result.stderr
    found = finsler.Embedding.load(tmp_path / "map.npz")
    assert found.status == "interrupted"
    assert found.n_iter == 3
    assert (tmp_path / "map.csv").read_text().count("\n") == 65


def test_ctrl_c_at_any_other_time_leaves_nothing(flights, tmp_path):
    folder, _ = flights
    args = ["embed", folder / "times.csv", "--out", tmp_path / "map.npz"]
    for module, name in (("finsler.cli.inputs", "measure"), ("finsler.map_file", "save_archive")):
        result = interrupted(module, name, 1, args)
        assert result.returncode == 130
        assert result.stderr.splitlines()[-1] == "finsler: stopped by Ctrl-C; nothing more was written."
        assert "Traceback" not in result.stderr
        assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="no pipes that break")
def test_a_reader_that_has_enough():
    command = [sys.executable, "-m", "finsler.cli.app", "datasets", "fetch", "flight-hours"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(600) == 0


def test_without_typer_it_says_what_to_install():
    code = (
        "import sys\nfrom importlib import util\nfind = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name in ('typer', 'rich') else find(name, *rest)\n"
        "import finsler.cli\nsys.exit(finsler.cli.main(['--help']))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr == "finsler: the command line needs typer and rich: pip install 'finsler[cli]'\n"
