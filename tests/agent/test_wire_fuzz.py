"""Random answers of a provider against the real client: a whole answer or a failure, never half of one."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from loopback import Answer, Loopback, Request, request_faults
from wire_scripts import WireScript

from agent.failures import EmptyAnswer, KeyRefused, ModelFailure, ProviderFailed, RequestRefused
from agent.messages import Completion, scrub
from agent.model import OpenAIModel

SCRIPTS = 2_000
AT_ONCE = 16


def seed_of(request: Request) -> int:
    return int(request.messages[-1]["content"])


async def outcome(model: OpenAIModel, seed: int) -> Completion | BaseException:
    shown: list[str] = []
    try:
        async for piece in model.stream([{"role": "user", "content": str(seed)}], ()):
            if isinstance(piece, Completion):
                assert piece.content.startswith("".join(shown)), f"seed {seed}: what was shown is not what came"
                return piece
            shown.append(piece)
    except Exception as error:  # any kind: the test says which
        return error
    raise AssertionError(f"seed {seed}: neither an answer nor a failure")


def fault_of(script: WireScript, result: Completion | BaseException) -> str:
    """What is wrong with `result`, in words; empty when nothing is."""
    if isinstance(result, BaseException):
        if not isinstance(result, ModelFailure):
            return f"{type(result).__name__} came out: {result}"
        if script.kind == "sound":
            return f"a sound answer failed: {result}"
        if script.whole and not isinstance(result, EmptyAnswer):
            return f"a whole answer failed: {result}"
        if not str(result).strip() or len(str(result)) > 2_000:
            return f"no sentence: {str(result)[:100]!r}"
        expected = {"cut": ModelFailure, "empty": EmptyAnswer, "page": ModelFailure}
        refusals = (ProviderFailed, RequestRefused, KeyRefused)
        return "" if isinstance(result, expected.get(script.kind, refusals)) else f"{type(result).__name__}: {result}"
    if script.kind in ("cut", "refused", "page", "garbage", "empty"):
        return f"an answer came of {script.kind}: {result}"
    if script.kind == "sound":
        wanted = scrub(script.text)
        if result.content != wanted:
            return f"text {result.content!r} instead of {wanted!r}"
        got = [(call.name, call.arguments) for call in result.calls]
        if got != list(script.calls):
            return f"calls {got} instead of {list(script.calls)}"
    return ""


def test_thousands_of_random_answers_never_break_the_client() -> None:
    kinds: Counter[str] = Counter()

    def answer(request: Request) -> Answer:
        return WireScript.of(seed_of(request)).answer

    async def main(url: str) -> list[str]:
        model = OpenAIModel("m", base_url=url, api_key="sk-fuzz-0123456789", timeout_s=4.0)
        waiting = iter(range(SCRIPTS))
        faults: list[str] = []

        async def work() -> None:
            for seed in waiting:
                script = WireScript.of(seed)
                result = await outcome(model, seed)
                kinds[f"{script.kind}: {'answer' if isinstance(result, Completion) else 'failure'}"] += 1
                if fault := fault_of(script, result):
                    faults.append(f"seed {seed} ({script.kind}): {fault}")

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        await model.close()
        return faults

    with Loopback(answer) as server:
        faults = asyncio.run(main(server.url))
        invalid: list[Any] = [found for request in server.requests if (found := request_faults(request.body))]

    assert faults == []
    assert invalid == []
    assert sum(kinds.values()) == SCRIPTS
    assert min(kinds["sound: answer"], kinds["cut: failure"], kinds["mutated: answer"]) > SCRIPTS // 50, kinds
