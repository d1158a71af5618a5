"""`file_search`: the lines of many files that a regular expression matches, looked for by a process of its own.

`re` holds the interpreter while it matches: in a thread, a pattern without an end would stop the whole program.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from tools.files.jail import FileRefused, Jail
from tools.process import run_process
from tools.tool import Bar, Tool
from tools.words import with_notes

__all__ = ["PROGRAM", "find_hits", "make_search"]

DEADLINE_S = 10
MOST_HITS = 1_000

PROGRAM = "import sys; sys.path.append(sys.argv[1]); from tools.files.hits import main; main(sys.argv[2])"
HOUSE = Path(__file__).parents[2]


def make_search(jail: Jail, bar: Bar) -> Tool:
    async def file_search(
        pattern: Annotated[str, Field(min_length=1, description="regular expression (Python), tried on each line")],
        path: Annotated[str, Field(description="folder or file, relative to the workspace")] = ".",
        glob: Annotated[str | None, Field(description="only these files, such as *.py or src/**/*.{ts,tsx}")] = None,
        ignore_case: bool = False,
        limit: Annotated[int, Field(ge=1, le=MOST_HITS, description="number of lines to show")] = 100,
    ) -> str:
        """Search the lines of files; each hit is shown as path:line: text.

        Binary files and folders such as .git, .venv and node_modules are left out (give one as path to look inside).
        """
        job = {"path": path, "pattern": pattern, "glob": glob, "ignore_case": ignore_case, "limit": limit}
        return await find_hits(jail, job)

    return Tool(file_search, parallel=True, bar=bar)


async def find_hits(jail: Jail, job: Mapping[str, Any], deadline_s: float = DEADLINE_S) -> str:
    """Return hits and notes. Raises `FileRefused` for a bad pattern or path, and when time ran out before a hit."""
    output = bytearray()
    folders = {"root": jail.root, "protected": jail.protected, "readable": jail.readable}
    status, _ = await run_process(
        # -I and -S: nothing of the workspace is imported. No environment: it needs no keys.
        [sys.executable, "-I", "-S", "-c", PROGRAM, str(HOUSE), json.dumps({**job, "jail": folders}, default=str)],
        cwd=jail.root,
        environment={},
        timeout_s=deadline_s,
        feed=output.extend,
    )
    if status:
        raise OSError(f"the search ended by a fault: {output[-500:].decode(errors='replace')}")
    answers = [json.loads(line) for line in output.split(b"\n")[:-1]]
    lines = [answer for answer in answers if isinstance(answer, str)]
    end = {"notes": [f"stopped after {deadline_s} s"]} if status is None else answers[-1]
    if "refused" in end:
        raise FileRefused(end["refused"])
    if status is None and not lines:
        raise FileRefused("nothing found in time; use a simpler pattern, a glob or a path below")
    return with_notes("\n".join(lines) or f"no line matches {job['pattern']!r} in {end['files']} files", end["notes"])
