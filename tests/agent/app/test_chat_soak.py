from __future__ import annotations

from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


def test_a_talk_survives_ctrl_c_resizes_and_pastes_and_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from chat_soak import Soak

    found = Soak(tmp_path, turns=15, seed=1).play()

    assert found["stopped"] > 0
