"""One running recording proxy (spec/archive.md, "The recorder")."""

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from eyelevel.lab.binary import find_binary
from eyelevel.lab.errors import LabError

ANSWER_TIMEOUT_S = 60.0
"""For one answer; writing a gigabyte takes longest."""


class Recorder:
    """A recording proxy from `with` to its end; without `write` nothing is written.

    Raises LabError where it cannot start or write.
    """

    def __init__(
        self,
        out: Path,
        *,
        port: int = 0,
        upstream_ca: Path | None = None,
        resolve: Sequence[str] = (),
        keep_cookies: bool = False,
        command_prefix: Sequence[str] = (),
    ) -> None:
        command = [*command_prefix, find_binary(), "record", "--out", str(out.resolve())]
        command += ["--port", str(port)]
        if upstream_ca is not None:
            command += ["--upstream-ca", str(upstream_ca.resolve())]
        for entry in resolve:
            command += ["--resolve", entry]
        if keep_cookies:
            command.append("--keep-cookies")
        self._command = command
        self._heard: queue.Queue[Mapping[str, Any] | None] = queue.Queue()
        self.address = ""
        """`host:port` of the proxy."""
        self.spki_sha256 = ""
        """What Chromium must be told to trust."""
        self.ca_certificate = ""
        """What other clients must trust, PEM."""

    def __enter__(self) -> Self:
        # A session of its own: Ctrl-C is this process's to handle, which then writes the site.
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            ready = self._await("ready")
        except BaseException:
            self._end()
            raise
        self.address = ready["address"]
        self.spki_sha256 = ready["spki_sha256"]
        self.ca_certificate = ready["ca_certificate"]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()

    def begin_visit(self) -> None:
        """What passes from now on belongs to another visit of the page."""
        self._send({"command": "visit"})

    def counts(self) -> Mapping[str, Any]:
        """How much was kept so far: `exchanges`, `open`, `left_out`."""
        self._send({"command": "counts"})
        return self._await("counts")

    def write(self, **said: Any) -> Mapping[str, Any]:
        """Write the site and end; what a recording can say of itself is in the spec.

        Returns the `written` event, whose `info` is what `eyelevel site info` prints.
        """
        self._send({"command": "stop", **said})
        return self._await("written")

    def _send(self, command: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # its own last words say why
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            self._process.stdin.flush()

    def _await(self, kind: str) -> Mapping[str, Any]:
        try:
            event = self._heard.get(timeout=ANSWER_TIMEOUT_S)
        except queue.Empty:
            raise LabError(f"the recorder gave no `{kind}` in {ANSWER_TIMEOUT_S:g} s") from None
        if event is None or event["event"] != kind:
            assert self._process.stderr is not None
            words = self._process.stderr.read(4000).decode(errors="replace").strip()
            raise LabError(words.removeprefix("eyelevel-lab: ") or "the recorder ended")
        return event

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._heard.put(json.loads(line))
        self._heard.put(None)

    def _end(self) -> None:
        """The end of its input ends it."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(timeout=1.0)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
