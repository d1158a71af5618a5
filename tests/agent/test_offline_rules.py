"""What the offline model understands, in both languages."""

from __future__ import annotations

import time

import pytest

from agent.offline_rules import RULES, Rule, understand


@pytest.mark.parametrize(
    ("text", "kind", "pieces"),
    [
        ("Remember that this project uses uv.", "remember", {"content": "this project uses uv."}),
        ("remember: tests run with pytest -q", "remember", {"content": "tests run with pytest -q"}),
        ("Please keep in mind that I am deaf", "remember", {"content": "I am deaf"}),
        ("don't forget: the port is 8080", "remember", {"content": "the port is 8080"}),
        ("save the port is 8080 to memory", "remember", {"content": "the port is 8080"}),
        ("remember 我喜欢深色主题", "remember", {"content": "我喜欢深色主题"}),
        ("請記住：這個專案用 uv", "remember", {"content": "這個專案用 uv"}),
        ("记住这个项目用 pytest 跑测试", "remember", {"content": "这个项目用 pytest 跑测试"}),
        ("别忘了每次提交前跑测试", "remember", {"content": "每次提交前跑测试"}),
        ("do you remember my name?", "recall", {"topic": "my name?"}),
        ("what do you know about tests?", "recall", {"topic": "tests?"}),
        ("你还记得我的名字吗？", "recall", {"topic": "我的名字"}),
        ("你知道我喜欢什么吗", "recall", {"topic": "我喜欢"}),
        ("關於測試你知道什麼？", "recall", {"topic": "測試"}),
        ("forget about pytest.", "forget", {"what": "pytest"}),
        ("remove pytest from memory", "forget", {"what": "pytest"}),
        ("忘掉关于测试的事", "forget", {"what": "测试"}),
        ("忘掉關於測試的記憶", "forget", {"what": "測試"}),
        ("replace pytest with nox", "replace", {"old": "pytest", "new": "nox"}),
        ("把 pytest 改成 nox", "replace", {"old": "pytest", "new": "nox"}),
        ("read a.txt and say what is in it", "read", {"path": "a.txt"}),
        ("What is in `notes/a b`?", "question", {}),
        ("what is in a.txt?", "read", {"path": "a.txt"}),
        ("看看 notes/日记.md 的内容", "read", {"path": "notes/日记.md"}),
        ("a.txt 里有什么？", "read", {"path": "a.txt"}),
        ("list files in src", "list", {"path": "src"}),
        ("列出文件", "list", {}),
        ("search for TODO in src/", "search", {"what": "TODO", "path": "src/"}),
        ("搜索 TODO", "search", {"what": "TODO"}),
        ('execute: echo "hi" > x.txt', "run", {"command": 'echo "hi" > x.txt'}),
        ("執行 ls -la", "run", {"command": "ls -la"}),
        ("delegate: read a.txt; read b.txt", "delegate", {"job": "read a.txt; read b.txt"}),
        ("have a sub-agent read a.txt", "delegate", {"job": "read a.txt"}),
        ("让子代理读取 a.txt", "delegate", {"job": "读取 a.txt"}),
        ("项目怎么跑测试？", "question", {}),
        ("how do we run the tests?", "question", {}),
        ("who are you?", "help", {}),
        ("你是谁？", "help", {}),
        ("delete a.txt", "unknown", {}),
        ("The sky is blue", "unknown", {}),
        ("", "unknown", {}),
    ],
)
def test_a_request_is_understood(text: str, kind: str, pieces: dict[str, str]) -> None:
    request = understand(text)

    assert (request.kind, request.pieces) == (kind, pieces)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.examples], ids=lambda rule: str(rule.kind))
def test_every_example_of_the_help_is_understood_by_its_rule(rule: Rule) -> None:
    assert [understand(example).kind for example in rule.examples or ()] == [rule.kind] * 2


def test_long_texts_take_no_time() -> None:
    began = time.process_time()
    for text in ("replace a with b to c " * 200, "把" * 5_000, "x" * 1_000_000, "write a to b in " * 300):
        understand(text)
    assert time.process_time() - began < 5
