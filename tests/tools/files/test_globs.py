"""`Glob`: patterns as people write them."""

from __future__ import annotations

import pytest

from tools.files.globs import Glob


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a.py", True),
        ("*.py", "deep/er/a.py", True),
        ("*.py", "a.pyc", False),
        ("./*.py", "a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("src/**/*.py", "lib/a.py", False),
        ("**/test_*.py", "test_a.py", True),
        ("**/test_*.py", "x/test_a.py", True),
        ("src/**", "src/a/b", True),
        ("*.{ts,tsx}", "a.tsx", True),
        ("{a,b}/{c,d}.md", "b/c.md", True),
        ("{a,b}/{c,d}.md", "c/c.md", False),
        ("[ab].txt", "b.txt", True),
        ("说*.txt", "docs/说明.txt", True),
    ],
)
def test_a_path_fits_or_not(pattern: str, path: str, fits: bool) -> None:
    assert Glob(pattern).matches(path) is fits


def test_patterns_that_could_be_tried_in_endless_ways_end() -> None:
    assert not Glob("/".join(["**", "a"] * 20) + "/b").matches("/".join(["a"] * 60))
    assert not Glob("*a" * 30 + "b").matches("a" * 250)


def test_braces_without_measure_are_refused() -> None:
    with pytest.raises(ValueError, match="simpler"):
        Glob("{a,b}" * 10)
