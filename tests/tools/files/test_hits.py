"""`glob_pattern`: patterns as people write them."""

from __future__ import annotations

import pytest

from tools.files.hits import glob_pattern


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
        ("[!ab].txt", "b.txt", False),
        ("a,b.{x", "a,b.{x", True),
        ("说*.txt", "docs/说明.txt", True),
    ],
)
def test_a_path_fits_or_not(pattern: str, path: str, fits: bool) -> None:
    assert bool(glob_pattern(pattern).fullmatch(path)) is fits
