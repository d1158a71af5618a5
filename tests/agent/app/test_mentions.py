from __future__ import annotations

from pathlib import Path

import pytest

from agent.app.mentions import ALL_CHARS, FILE_CHARS, attach_files


def test_the_text_of_a_named_file_is_appended(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x = 1\n")

    assert attach_files("look at @src/a.py, please", tmp_path) == (
        'look at @src/a.py, please\n\n<file path="src/a.py">\nx = 1\n\n</file>',
        [],
    )


@pytest.mark.parametrize("text", ["write to me@example.com", "hi @someone", "@", "a @ b", "@dataclass", "50 @ 3"])
def test_what_names_no_file_is_text(tmp_path: Path, text: str) -> None:
    assert attach_files(text, tmp_path) == (text, [])


def test_a_path_without_a_file_is_told_of(tmp_path: Path) -> None:
    text, notices = attach_files("see @no/such.py", tmp_path)

    assert text == "see @no/such.py"
    assert len(notices) == 1
    assert "no such file" in notices[0]


def test_names_with_blanks_stand_in_quotes_and_chinese_marks_may_follow(tmp_path: Path) -> None:
    (tmp_path / "my notes.txt").write_text("N")
    (tmp_path / "说明").write_text("S")
    text, _ = attach_files('@"my notes.txt" 和 @说明。', tmp_path)

    assert '<file path="my notes.txt">\nN\n</file>' in text
    assert '<file path="说明">\nS\n</file>' in text


@pytest.mark.parametrize(
    "text",
    ["看@b.txt", "看 @b.txt，好", "（@b.txt）", "“@b.txt”", "@b.txt好的", "@no,@b.txt", "(see @b.txt)", "@b.txt、@no"],
)
def test_a_mention_needs_no_blanks_where_there_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "b.txt").write_text("B")

    assert '<file path="b.txt">\nB\n</file>' in attach_files(text, tmp_path)[0]


def test_a_file_is_attached_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("A")

    assert attach_files("@a @a", tmp_path)[0].count("<file") == 1


@pytest.mark.parametrize("name", ["../secret", "link", "/etc/hostname"])
def test_files_outside_of_the_folder_stay_outside(tmp_path: Path, name: str) -> None:
    root = tmp_path / "work"
    root.mkdir()
    (tmp_path / "secret").write_text("SECRET")
    (root / "link").symlink_to(tmp_path / "secret")
    text, notices = attach_files(f"@{name}", root)

    assert text == f"@{name}"
    assert "outside" in notices[0]


def test_binary_files_and_folders_are_named_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "b.bin").write_bytes(b"a\0b")
    (tmp_path / "folder").mkdir()
    _, notices = attach_files("@b.bin @folder", tmp_path)

    assert ["not a text file" in notices[0], "folder" in notices[1]] == [True, True]


def test_a_long_file_is_cut_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("中" * 300_000, encoding="utf-8")
    text, _ = attach_files("@long", tmp_path)

    assert len(text) < FILE_CHARS + 300
    assert "cut here: the file has 900,000 bytes" in text
    assert "\ufffd" not in text


def test_all_files_together_are_bounded(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"f{number}").write_text("x" * FILE_CHARS)
    text, _ = attach_files(" ".join(f"@f{n}" for n in range(9)), tmp_path)

    assert len(text) < ALL_CHARS + 2_000
