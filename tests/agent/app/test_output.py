"""Two streams: the answer on one, all else on the other, and escape codes where a terminal wants them."""

from __future__ import annotations

import io
import json

import pytest

from agent.app.exits import UsageProblem
from agent.app.output import Output, open_output, wants_color


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        return True


@pytest.mark.parametrize(
    ("stream", "choice", "env", "expected"),
    [
        (Terminal(), "auto", {"TERM": "xterm"}, True),
        (Terminal(), "auto", {"TERM": "dumb"}, False),
        (Terminal(), "auto", {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (Terminal(), "auto", {"TERM": "xterm", "NO_COLOR": ""}, True),
        (Terminal(), "never", {"TERM": "xterm", "FORCE_COLOR": "1"}, False),
        (Terminal(), "always", {"NO_COLOR": "1"}, True),
        (io.StringIO(), "auto", {"TERM": "xterm", "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"}, False),
        (io.StringIO(), "always", {}, True),
        (None, "auto", {"TERM": "xterm"}, False),
    ],
)
def test_color_is_decided_by_flag_then_no_color_then_terminal(
    stream: io.StringIO | None, choice: str, env: dict[str, str], expected: bool
) -> None:
    assert wants_color(stream, choice, env) is expected  # type: ignore[arg-type]


def test_a_closed_stream_is_no_terminal() -> None:
    stream = Terminal()
    stream.close()
    assert wants_color(stream, "auto", {"TERM": "xterm"}) is False


def test_an_unknown_choice_names_the_choices() -> None:
    with pytest.raises(UsageProblem, match="'sometimes' is unknown; choose auto, always, never"):
        open_output("sometimes")


def test_quiet_silences_progress_and_not_problems() -> None:
    output = Output(io.StringIO(), io.StringIO(), quiet=True)
    output.progress("working")
    output.notice("careful")
    output.problem("failed")
    assert output.stderr.getvalue() == "failed\n"  # type: ignore[attr-defined]


def test_foreign_text_is_defused_and_never_markup() -> None:
    output = Output(io.StringIO(), io.StringIO(), color_out=True)
    output.answer("see [/etc/hosts] \x1b]52;c;x\x07")
    assert output.stdout.getvalue() == "see [/etc/hosts] ␛]52;c;x␇\n"  # type: ignore[attr-defined]
    assert output.styled("\x1b[2J", "bold") == "\x1b[1m␛[2J\x1b[0m"


def test_json_is_writable_in_any_case() -> None:
    output = Output(io.StringIO(), io.StringIO())
    output.line({"half": "\ud800", "list": ["\udfff", 1]})
    assert json.loads(output.stdout.getvalue()) == {"half": "?", "list": ["?", 1]}  # type: ignore[attr-defined]


def test_a_stderr_that_nobody_reads_does_not_cost_the_answer() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    output = Output(io.StringIO(), Gone())
    output.problem("lost")
    output.answer("42")
    assert output.stdout.getvalue() == "42\n"  # type: ignore[attr-defined]
