"""`unavailable`: what a Postgres server says, in one sentence for a person, without the password."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from memory.archive.entry import ArchiveInterrupted, ArchiveUnavailable

if TYPE_CHECKING:
    import psycopg

__all__ = [
    "READ_S",
    "WRITE_S",
    "Where",
    "is_busy",
    "is_starting",
    "server_name",
    "unavailable",
    "unreachable",
]

# SQLSTATE -> what follows "Postgres at ...". https://www.postgresql.org/docs/current/errcodes-appendix.html
SENTENCES = {
    "25006": "is read-only: give the address of the primary server, or free its disk",
    "42501": "does not let this user do that: grant it schema {schema!r} with its tables, or CREATE on the database",
    "42P01": "has lost tables of schema {schema!r}: restore them, or name another schema",
    "3F000": "has lost schema {schema!r}: restore it, or name another",
    "53100": "has no disk space left: free some",
    "53200": "has no memory left: try again later",
    "53300": "has no connection left: lower max_connections of its users, or put PgBouncer before it",
    "55P03": "is busy: another program has been writing to schema {schema!r} for {lock_s} s; try again",
    "57014": "took too long and was stopped: try again, or narrow the request",
}
# The same, and nothing was kept: the server went down, came up, or undid the work to serve another.
INTERRUPTED = {"40001", "40P01", "57P01", "57P02", "57P03", "57P05", "25P03", "08000", "08003", "08006"}
# Failures to connect carry no SQLSTATE, only words.
REFUSALS = [
    ("password authentication failed", "refuses the password or the user: correct the URL"),
    ("no password supplied", "wants a password: put it into the URL, PGPASSWORD or ~/.pgpass"),
    ("no pg_hba.conf entry", "does not let this user in from this machine: see its pg_hba.conf"),
    ("too many clients", SENTENCES["53300"]),
    ("too many connections", SENTENCES["53300"]),
    ("remaining connection slots", SENTENCES["53300"]),
    ("no more connections allowed", SENTENCES["53300"]),
    ("query_wait_timeout", SENTENCES["53300"]),
    ("starting up", "is starting: try again in a moment"),
    ("shutting down", "is shutting down: try again later"),
    ("in recovery mode", "is recovering from a crash: try again in a moment"),
    ("not yet accepting connections", "is starting: try again in a moment"),
    ("could not translate host name", "cannot be found: its host name is unknown here"),
    ("failed to resolve host", "cannot be found: its host name is unknown here"),
    ("Connection refused", "cannot be reached: nothing listens there; start it, or correct the URL"),
    ("No such file or directory", "cannot be reached: nothing listens there; start it, or correct the URL"),
    ("timeout expired", "did not answer in time: check its address and the firewall"),
    ("connection timeout", "did not answer in time: check its address and the firewall"),
    ("server closed the connection", "breaks off every connection: is it a Postgres server, and is it well?"),
    ("received invalid response", "is no Postgres server: correct the URL"),
    ("expected authentication request", "is no Postgres server: correct the URL"),
    ("server does not support SSL", "offers no TLS: take sslmode out of the URL, or turn TLS on there"),
]
# What is said when an open connection is lost, as against one that could not be made.
LOST = [
    "server closed the connection",
    "terminating connection",
    "connection is lost",
    "connection is closed",
    "connection has been closed",
    "could not receive data",
    "could not send data",
    "no connection to the server",
    "consuming input failed",
    "sending query failed",
]
# How long a statement may take: a search is given up, the rebuilding of a large archive is not.
READ_S, WRITE_S = 20, 300


class Where(NamedTuple):
    """What messages name, and how long is waited."""

    place: str
    # the server, without a password
    schema: str
    patience_s: float

    @property
    def lock_timeout(self) -> str:
        """As a statement."""
        return f"SET LOCAL lock_timeout = '{round(self.patience_s * 1000)}ms'"


def unavailable(error: psycopg.Error, where: Where) -> ArchiveUnavailable:
    """Return what to raise for what an open connection said."""
    code, told = error.sqlstate or "", str(error)
    if code in INTERRUPTED or (not code and any(text in told for text in LOST)):
        return ArchiveInterrupted(f"Postgres at {where.place} broke off the connection: try again")
    return unreachable(error, where)


def unreachable(error: psycopg.Error, where: Where) -> ArchiveUnavailable:
    """Return what to raise where no connection could be made."""
    told = str(error)
    sentence = SENTENCES.get(error.sqlstate or "") or next((say for text, say in REFUSALS if text in told), None)
    if sentence is None:
        return ArchiveUnavailable(f"Postgres at {where.place} answered: {_plain(error)}")
    return ArchiveUnavailable(
        f"Postgres at {where.place} {sentence.format(schema=where.schema, lock_s=f'{where.patience_s:g}')}"
    )


def is_starting(error: psycopg.Error) -> bool:
    """Tell whether the server is coming up and will take connections in a moment."""
    return any(text in str(error) for text in ("starting up", "in recovery mode", "not yet accepting connections"))


def is_busy(error: psycopg.Error) -> bool:
    """Tell whether the server has no connection left for us."""
    texts = ("too many clients", "too many connections", "remaining connection slots", "no more connections allowed")
    return error.sqlstate == "53300" or any(text in str(error) for text in texts)


def _plain(error: psycopg.Error) -> str:
    """Return the server's own words, without what the client library puts round them."""
    primary = error.diag.message_primary if error.sqlstate else None
    line = primary or str(error).strip().split("\n")[-1]
    return re.sub(r"^.*?(?:FATAL|ERROR):\s*|^connection failed:\s*", "", line)[:300] or "nothing"


def server_name(url: str) -> str:
    """Return `host:port/database` of a URL or a `host=... dbname=...` line, and never a password."""
    if "://" in url:
        parts = urlsplit(url)
        options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        hosts = options.get("host") or parts.netloc.rpartition("@")[2]
        port, database = options.get("port", ""), options.get("dbname") or unquote(parts.path.lstrip("/"))
    else:
        options = dict(re.findall(r"(\w+)\s*=\s*('[^']*'|\S*)", url))
        hosts, port, database = (options.get(name, "").strip("'") for name in ("host", "port", "dbname"))
    name = (unquote(hosts) or "this machine") + (f":{port}" if port else "")
    return f"{name}/{database}" if database else name
