"""`EmbeddingServer`: a loopback server that answers like Ollama and like `/v1/embeddings`, well or badly."""

from __future__ import annotations

import base64
import json
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class EmbeddingServer:
    """Gives each text the vector `[len(text), 1, 0, ...]`; `answer` (status, JSON or bytes) overrides it once set."""

    def __init__(self, dimensions: int = 4) -> None:
        self.dimensions = dimensions
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.answer: tuple[int, Any] | None = None
        self.headers: dict[str, str] = {}
        self.refused: set[str] = set()
        self.floats = False
        self.reverse = False
        self.hang = threading.Event()
        self.hang.set()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                server.hang.wait(20)
                status, data = server.answer or server.good(self.path, body)
                content = data if isinstance(data, bytes) else json.dumps(data).encode()
                self.send_response(status)
                for name, value in server.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: Any) -> None:
                """Keep the test's output clean."""

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                """A client that hung up is part of some tests."""

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> EmbeddingServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.hang.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def good(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        for name in self.refused & body.keys():
            return 400, {"error": {"message": f"Unrecognized request argument supplied: {name}"}}
        vectors = [[float(len(text)), 1.0] + [0.0] * (self.dimensions - 2) for text in body["input"]]
        if path.endswith("/api/embed"):
            return 200, {"model": body["model"], "embeddings": vectors}
        rows = [{"object": "embedding", "index": i, "embedding": self.coded(v, body)} for i, v in enumerate(vectors)]
        return 200, {"object": "list", "data": rows[::-1] if self.reverse else rows, "model": body["model"]}

    def coded(self, vector: list[float], body: dict[str, Any]) -> Any:
        if self.floats or body.get("encoding_format") != "base64":
            return vector
        return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
