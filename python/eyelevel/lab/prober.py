"""Run the prober and its targets: one line of JSON in, events out (spec/probe.md)."""

import contextlib
import json
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Self

from eyelevel.base.errors import LabError
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.lab.binary import NAME, find_binary, silent_failure
from eyelevel.lab.client import Lab

END_TIMEOUT_S = 10.0
"""Time limit for a target to exit after its input was closed."""


def probe_events(
    subcommand: str,
    config: JsonMapping,
    prefix: Sequence[str] = (),
    lines: Iterable[str] = (),
) -> Iterator[JsonObject]:
    """Run `probe` or `scan` and yield its events as they arrive; stopping early ends the process.

    `prefix` runs the command inside a lab. `lines` are sent after the configuration, from another
    thread. Raises `LabError` with the process's own message if it fails.
    """
    command = [*prefix, find_binary(), subcommand]
    # Ctrl-C reaches it, too: its last row is either complete or absent.
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        process.stdin.write(json.dumps(config) + "\n")
        feeder = threading.Thread(target=_feed, args=(process.stdin, lines), daemon=True)
        feeder.start()
        for line in process.stdout:
            yield json.loads(line)
        errors = process.stderr.read().strip()
        if process.wait() != 0:
            raise LabError(errors.removeprefix(f"{NAME}: ") or silent_failure(subcommand))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def _feed(stream: IO[str], lines: Iterable[str]) -> None:
    # After a broken pipe the command has exited, and its status shows how.
    with contextlib.suppress(BrokenPipeError), stream:
        for line in lines:
            stream.write(line + "\n")


class ProbeTarget:
    """Servers to probe, during a `with` block, in the namespace that `prefix` enters."""

    def __init__(self, prefix: Sequence[str], config: JsonMapping) -> None:
        self._prefix = prefix
        self._config = config
        self.authority_pem = ""
        self.crypto_us_min: Mapping[str, int | None] = {}
        """Minimum cryptography time of a handshake on the servers, µs, by protocol; known after
        exit.
        """

    @classmethod
    def behind(cls, lab: Lab, config: JsonMapping) -> Self:
        """Start a prober in the servers' namespace of a lab."""
        return cls(lab.server_command_prefix, config)

    def __enter__(self) -> Self:
        command = [*self._prefix, find_binary(), "probe-target"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(self._config).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            _, errors = self._process.communicate(timeout=END_TIMEOUT_S)
            message = errors.decode().strip().removeprefix(f"{NAME}: ")
            raise LabError(message or silent_failure("probe-target"))
        self.authority_pem = json.loads(line)["authority_pem"]
        return self

    def __exit__(self, *error: object) -> None:
        try:
            summary, _ = self._process.communicate(timeout=END_TIMEOUT_S)
            if summary:
                self.crypto_us_min = json.loads(summary)["crypto_us_min"]
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
