"""The commands of ``finsler``, put together: errors become one line each, with an exit code.

A new command is a function with its examples in a module of this package, added at the end of this file. The modules of the
commands import what is heavy when they run: ``--help`` is there at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import finsler
from finsler._memory import prepare_for_little_address_space
from finsler.cli import datasets, diagnose, embed, inference, learn, main, maps, report, routes
from finsler.cli.options import examples
from finsler.cli.output import MENDABLE, explain, say, warnings_in_lines
from finsler.errors import one_line

# click's own exceptions; newer typers carry their own copy of click, so they are found from here.
ClickException: Any = typer.BadParameter.__mro__[2]


class Command(TyperCommand):
    """A command whose errors are one line, with the exit codes 2 (user) and 130 (Ctrl-C); bugs raise."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        if hasattr(sys.stdout, "reconfigure"):  # labels may hold what the terminal cannot show
            sys.stdout.reconfigure(errors="backslashreplace")
        options = {param.name: param.opts[0] for param in self.params}
        try:
            prepare_for_little_address_space()
            with warnings_in_lines(options):
                return super().invoke(ctx)
        except KeyboardInterrupt:
            say("finsler: stopped by Ctrl-C; nothing more was written.")
            raise typer.Exit(130) from None
        except BrokenPipeError:  # whoever read our output has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except MENDABLE as error:
            say(f"finsler: {explain(error, options)}")
            raise typer.Exit(2) from None


class Commands(TyperGroup):
    """The group of commands: what cannot be parsed is one line, too."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Parse the arguments and run."""
        extra["standalone_mode"] = False
        try:
            code = super().main(*args, **extra)
        except ClickException as error:
            context = getattr(error, "ctx", None)
            path = "finsler" if context is None else context.command_path
            text = one_line(error.format_message())
            say(f"finsler: {text}{'' if text.endswith(('.', '?')) else '.'} Try '{path} --help'.")
            code = 2
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else 0)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if threading.current_thread() is threading.main_thread():
        # As an exception, so that half-written files are removed on the way out.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    code = typer.main.get_command(app).main(list(arguments), prog_name="finsler", standalone_mode=False)
    return code if isinstance(code, int) else 0


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(
    invoke_without_command=True,
    epilog=examples(
        "finsler demo",
        "finsler report times.csv",
        "finsler embed times.csv --out map.html --out map.npz",
        "finsler distance map.npz JFK LAX",
    ),
)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Maps of asymmetric data, on which going up costs more than coming down."""
    if version:
        print(f"finsler {finsler.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        text = context.get_help()
        if text:  # rich prints it itself
            print(text)


app.command(cls=Command, epilog=embed.EXAMPLES)(embed.embed)
app.command(cls=Command, epilog=report.EXAMPLES)(report.report)
app.command(cls=Command, epilog=report.COMPARE_EXAMPLES)(report.compare)
app.command("test", cls=Command, epilog=inference.TEST_EXAMPLES)(inference.run_tests)
app.command("dims", cls=Command, epilog=inference.DIMS_EXAMPLES)(inference.choose_dims)
app.command("confidence", cls=Command, epilog=inference.CONFIDENCE_EXAMPLES)(inference.find_confidence)
app.command("align", cls=Command, epilog=inference.ALIGN_EXAMPLES)(inference.align_maps)
app.command(cls=Command, epilog=learn.LEARN_EXAMPLES)(learn.learn)
app.command(cls=Command, epilog=learn.PREDICT_EXAMPLES)(learn.predict)
app.command(cls=Command, epilog=maps.PLACE_EXAMPLES)(maps.place)
app.command(cls=Command, epilog=maps.DISTANCE_EXAMPLES)(maps.distance)
app.command(cls=Command, epilog=routes.EXAMPLES)(routes.route)
app.command(cls=Command, epilog=maps.PLOT_EXAMPLES)(maps.plot)
app.command(cls=Command, epilog=diagnose.EXAMPLES)(diagnose.diagnose)
app.command(cls=Command, epilog=datasets.DEMO_EXAMPLES)(datasets.demo)
group = typer.Typer(help="Example data: what there is, and where it is.", rich_markup_mode="rich")
group.command("list", cls=Command, epilog=datasets.LIST_EXAMPLES)(datasets.list_datasets)
group.command("fetch", cls=Command, epilog=datasets.FETCH_EXAMPLES)(datasets.fetch)
app.add_typer(group, name="datasets")

if __name__ == "__main__":  # python -m finsler.cli.app
    sys.exit(main())
