"""A package index on loopback that serves small wheels, and can hold one back until it is let go."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import threading
import zipfile
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from runners.environments import environments
from runners.environments.uv import find_uv

UV = find_uv(environments.folder())
"""The uv that made what the tests run in."""


def make_wheel(
    folder: Path, name: str, version: str, modules: Mapping[str, str | bytes] | None = None
) -> Path:
    """A wheel of pure Python: `modules` maps file names to contents."""
    file = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    members: dict[str, str | bytes] = {
        **(modules or {f"{name}.py": f"VERSION = {version!r}\n"}),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{member},,\n" for member in [*members, f"{info}/RECORD"])
    with zipfile.ZipFile(file, "w") as wheel:
        for member, content in {**members, f"{info}/RECORD": record}.items():
            entry = zipfile.ZipInfo(member)
            mode = 0o755 if ".data/scripts/" in member else 0o644
            entry.external_attr = (stat.S_IFREG | mode) << 16
            wheel.writestr(entry, content)
    return file


def make_uv_wheel(index: PackageIndex) -> Path:
    """A wheel of the uv that the tests run with."""
    assert UV is not None
    return make_wheel(index.folder, "uv", "0.99.0", {"uv-0.99.0.data/scripts/uv": Path(UV).read_bytes()})


class PackageIndex:
    """Serves the wheels in `folder`; requests for a name in `held` wait until `let_go`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.held: set[str] = set()
        self.asked: list[str] = []
        self._open = threading.Event()
        self._wanted = threading.Event()
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                index._answer(self)

            do_HEAD = do_GET

            def log_message(self, *_arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables that make pip and uv use this index, and nothing else."""
        return {
            "PATH": os.pathsep.join([os.environ["PATH"], *([str(Path(UV).parent)] if UV else [])]),
            "PIP_CONFIG_FILE": "/dev/null",
            "PIP_INDEX_URL": f"http://127.0.0.1:{self._server.server_port}/simple",
            "PIP_EXTRA_INDEX_URL": "",
            "PIP_FIND_LINKS": "",
            "PIP_NO_CACHE_DIR": "1",
        }

    def fetched(self, name: str = "") -> int:
        """How often a wheel was asked for, of this package or of any."""
        return sum(path.startswith(f"/files/{name}") and path.endswith(".whl") for path in self.asked)

    def wait_wanted(self, seconds: float) -> bool:
        """Wait until a held file has been asked for."""
        return self._wanted.wait(seconds)

    def let_go(self) -> None:
        """Serve what was held."""
        self._open.set()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        parts = [part for part in request.path.partition("#")[0].split("/") if part]
        self.asked.append(request.path)
        if parts[0] == "simple" and len(parts) == 2:
            stem = parts[1].replace("-", "_")
            files = sorted(self.folder.glob(f"{stem}-*.whl"))
            links = "".join(
                f'<a data-core-metadata=true href="/files/{file.name}#sha256={_sha256(file)}">{file.name}</a>'
                for file in files
            )
            self._send(request, 200 if files else 404, links.encode(), "text/html")
        elif parts[0] == "files" and parts[1].endswith(".metadata"):
            with zipfile.ZipFile(self.folder / parts[1].removesuffix(".metadata")) as wheel:
                (name,) = [name for name in wheel.namelist() if name.endswith("/METADATA")]
                self._send(request, 200, wheel.read(name), "text/plain")
        elif parts[0] == "files":
            file = self.folder / parts[1]
            if parts[1].partition("-")[0] in self.held:
                self._wanted.set()
                self._open.wait(240)
            self._send(request, 200, file.read_bytes(), "application/octet-stream")
        else:
            self._send(request, 404, b"", "text/plain")

    @staticmethod
    def _send(request: BaseHTTPRequestHandler, status: int, body: bytes, kind: str) -> None:
        with contextlib.suppress(OSError):
            request.send_response(status)
            request.send_header("Content-Type", kind)
            request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            request.wfile.write(body)

    @contextlib.contextmanager
    def serving(self) -> Iterator[PackageIndex]:
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.let_go()
            self._server.shutdown()
            self._server.server_close()


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
