"""Control a running recording proxy (spec/archive.md, "The recorder")."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from eyelevel.base.json_types import JsonMapping
from eyelevel.lab.binary import find_binary
from eyelevel.lab.client import Conversation

ANSWER_TIMEOUT_S = 60.0
"""Time limit for one answer; writing a gigabyte takes longest."""

END_GRACE_S = 5.0


class Recorder:
    """A recording proxy, for the duration of a `with` block; without `write` nothing is written.

    It listens in its own network namespace, which has only loopback, for commands started with
    `command_prefix`; with `port`, on this machine's loopback, for clients that send `credentials`.

    Hosts that are not public are reachable if a URL of `pages` names their address, or if `allow`
    names them: `HOST`, `HOST:PORT`, an address, one with a port, or a range. Raises `LabError` if
    it cannot start or write.
    """

    def __init__(
        self,
        out: Path,
        *,
        port: int | None = None,
        upstream_ca: Path | None = None,
        resolve: Sequence[str] = (),
        pages: Sequence[str] = (),
        allow: Sequence[str] = (),
        keep_cookies: bool = False,
    ) -> None:
        command = [find_binary(), "record", "--out", str(out.resolve())]
        if port is not None:
            command += ["--port", str(port)]
        if upstream_ca is not None:
            command += ["--upstream-ca", str(upstream_ca.resolve())]
        for entry in resolve:
            command += ["--resolve", entry]
        for page in pages:
            command += ["--page", page]
        for entry in allow:
            command += ["--allow", entry]
        if keep_cookies:
            command.append("--keep-cookies")
        self._command = command
        self.address = ""
        """`host:port` of the proxy."""
        self.spki_sha256 = ""
        """Key that Chromium must be set to trust."""
        self.ca_certificate = ""
        """PEM of the certificate that other clients must trust."""
        self.credentials = ""
        """`name:password` for clients, with `port`."""
        self.command_prefix: tuple[str, ...] = ()
        """Prefix of a client's command, without `port`."""

    def __enter__(self) -> Self:
        self._conversation = Conversation("the recorder", self._command)
        try:
            ready = self._conversation.wait_for("ready", ANSWER_TIMEOUT_S)
        except BaseException:
            self._conversation.end(END_GRACE_S)
            raise
        self.address = ready["address"]
        self.spki_sha256 = ready["spki_sha256"]
        self.ca_certificate = ready["ca_certificate"]
        self.credentials = ready.get("credentials", "")
        if (init_pid := ready.get("init_pid")) is not None:
            self.command_prefix = (find_binary(), "enter", "--pid", str(init_pid), "--")
        return self

    def __exit__(self, *_: object) -> None:
        self._conversation.end(END_GRACE_S)

    def begin_visit(self) -> None:
        """Assign exchanges from now on to another visit of the page."""
        self._conversation.say({"command": "visit"})

    def counts(self) -> JsonMapping:
        """Return the numbers so far: `exchanges`, `open`, `left_out`."""
        self._conversation.say({"command": "counts"})
        return self._conversation.wait_for("counts", ANSWER_TIMEOUT_S)

    def why_left_out(self, host: str) -> str | None:
        """Return why an exchange with `host` is not stored, such as an unreachable host.

        Returns None if it is.
        """
        self._conversation.say({"command": "why", "host": host})
        left_out = self._conversation.wait_for("why", ANSWER_TIMEOUT_S)["left_out"]
        return None if left_out is None else str(left_out)

    def write(self, **provenance: object) -> JsonMapping:
        """Write the site and stop; `provenance` is stored in the recording (the spec).

        Returns the `written` event, whose `info` is the output of `eyelevel site info`.
        """
        self._conversation.say({"command": "stop", **provenance})
        return self._conversation.wait_for("written", ANSWER_TIMEOUT_S)
