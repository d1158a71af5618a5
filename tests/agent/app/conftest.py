"""`place`: a folder and a home of their own for every test of the command line. `wire`: a model for the place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from command_line import KEY, Place
from loopback import Answer, Loopback


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    for name in ("work", "home"):
        (tmp_path / name).mkdir()

    def capture() -> tuple[str, str]:
        out, err = capsys.readouterr()
        return out, err

    return Place(tmp_path / "work", tmp_path / "home", capture)


@pytest.fixture
def wire(place: Place) -> Iterator[Callable[..., Loopback]]:
    """Give the place a model that plays a script, and return its server."""
    with ExitStack() as stack:

        def wire(*answers: Answer) -> Loopback:
            server = stack.enter_context(Loopback(list(answers)))
            place.env |= {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "test-model"}
            return server

        yield wire
