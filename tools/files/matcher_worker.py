"""The process that tries a regular expression on files, so that one without an end can be stopped.

`re` holds the interpreter while it matches: in a thread it would stop the whole program. This file is run by its path,
in an interpreter without site-packages, and imports nothing of the house. It reads one JSON line
`{"pattern", "ignore_case", "deadline_s", "line_chars"}`, answers `{}` or `{"error": words}`, then for each file reads
`{"size", "codec", "most"}` and that many bytes, and answers a list of `[line number, text]`.
"""

import json
import re
import signal
import sys


def main() -> None:
    source, sink = sys.stdin.buffer, sys.stdout.buffer

    def answer(data: object) -> None:
        sink.write(json.dumps(data).encode() + b"\n")
        sink.flush()

    job = json.loads(source.readline())
    signal.alarm(job["deadline_s"])  # its default is death, whatever this process is doing and whoever waits for it
    try:
        search = re.compile(job["pattern"], re.IGNORECASE if job["ignore_case"] else 0).search
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        answer({"error": str(error) or type(error).__name__})
        return
    answer({})
    while header := source.readline():
        file = json.loads(header)
        text = source.read(file["size"]).decode(file["codec"], "replace")
        hits: list[tuple[int, str]] = []
        for number, whole in enumerate(text.split("\n"), start=1):
            line = whole.removesuffix("\r")
            if found := search(line):
                hits.append((number, around(line, found.start(), job["line_chars"])))
                if len(hits) >= file["most"]:
                    break
        answer(hits)


def around(line: str, at: int, chars: int) -> str:
    if len(line) <= chars:
        return line
    start = max(0, min(at - chars // 4, len(line) - chars))
    return f"{'...' if start else ''}{line[start : start + chars]}{'...' if start + chars < len(line) else ''}"


if __name__ == "__main__":
    main()
