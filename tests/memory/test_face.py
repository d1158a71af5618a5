"""The face of `memory`: every name is there, and importing it costs nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import memory


@pytest.mark.parametrize("name", memory.__all__)
def test_every_name_of_the_face_is_there(name: str) -> None:
    assert getattr(memory, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'MemoryStorr'"):
        _ = memory.MemoryStorr


def test_the_face_alone_loads_none_of_its_rooms() -> None:
    code = (
        "import sys, memory; print([name for name in sys.modules if name.startswith(('memory.', 'tools', 'prompts'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
