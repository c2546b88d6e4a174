"""Control one running recording proxy (spec/archive.md, "The recorder")."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from eyelevel.binary import find_binary
from eyelevel.json_types import JsonMapping
from eyelevel.lab.conversation import Conversation

ANSWER_TIMEOUT_S = 60.0
"""The limit for one answer; writing a gigabyte takes longest."""

END_GRACE_S = 5.0


class Recorder:
    """A recording proxy from `with` to its end; without `write` nothing is written.

    It listens in a network namespace of its own that has nothing but loopback, for commands behind
    `command_prefix`; with `port`, on this machine's loopback, for clients that send `credentials`.

    What is not public is reached where a URL of `pages` names its address, and where `allow` names
    it: `HOST`, `HOST:PORT`, an address, one with a port, or a range.
    Raises LabError if it cannot start or write.
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
        """What Chromium must be told to trust."""
        self.ca_certificate = ""
        """What other clients must trust, PEM."""
        self.credentials = ""
        """`name:password` for clients, with `port`."""
        self.command_prefix: tuple[str, ...] = ()
        """Put before a client's command, without `port`."""

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
        """Count what passes from now on to another visit of the page."""
        self._conversation.say({"command": "visit"})

    def counts(self) -> JsonMapping:
        """Return how much was kept so far: `exchanges`, `open`, `left_out`."""
        self._conversation.say({"command": "counts"})
        return self._conversation.wait_for("counts", ANSWER_TIMEOUT_S)

    def why_left_out(self, host: str) -> str | None:
        """Return why an exchange with `host` is not stored, such as that nothing answers there."""
        self._conversation.say({"command": "why", "host": host})
        left_out = self._conversation.wait_for("why", ANSWER_TIMEOUT_S)["left_out"]
        return None if left_out is None else str(left_out)

    def write(self, **provenance: object) -> JsonMapping:
        """Write the site and end; `provenance` is what the recording says of itself (the spec).

        Returns the `written` event, whose `info` is what `eyelevel site info` prints.
        """
        self._conversation.say({"command": "stop", **provenance})
        return self._conversation.wait_for("written", ANSWER_TIMEOUT_S)
