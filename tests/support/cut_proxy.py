"""`CutProxy`: a loopback proxy before a Postgres server that cuts the connection when a statement comes by."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Literal


class CutProxy:
    """Passes bytes on both ways. After `cut_at(word, when)` the next connection that sends `word` is cut, once:
    before the server gets it, or after the server answered it and before the client hears that."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._word, self._when = b"", ""
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_at(self, word: str, when: Literal["before", "after"]) -> None:
        self._word, self._when = word.encode(), when

    def close(self) -> None:
        """Take no new connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server_port))
                cut = threading.Event()
                threading.Thread(target=self._to_server, args=(client, server, cut), daemon=True).start()
                threading.Thread(target=self._to_client, args=(client, server, cut), daemon=True).start()

    def _to_server(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        with suppress(OSError):
            while data := client.recv(65_536):
                with self._lock:
                    hit = bool(self._word) and self._word in data
                    if hit:
                        self._word = b""
                        self.cuts += 1
                if hit and self._when == "before":
                    break
                if hit:
                    cut.set()
                server.sendall(data)
        _end(client, server)

    def _to_client(self, client: socket.socket, server: socket.socket, cut: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(65_536):
                if cut.is_set():
                    break
                client.sendall(data)
        _end(client, server)

    def __enter__(self) -> CutProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _end(*sockets: socket.socket) -> None:
    for each in sockets:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()
