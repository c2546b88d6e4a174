"""Control a running live network (spec/lab-events.md, "A live network")."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from eyelevel.lab.binary import find_binary
from eyelevel.lab.client import LabSummary, read_suspended
from eyelevel.lab.conversation import Conversation

READY_TIMEOUT_S = 30.0
"""Time limit for its start, which takes 30 ms on a quiet machine."""

STOP_TIMEOUT_S = 10.0
END_GRACE_S = 1.0

IPV4_ALONE = (
    "live loads are over IPv4 alone: this machine has IPv6, but forwards no packets of it; "
    "docs/guides/live.md says how it would"
)


class LiveNetwork:
    """A network namespace that reaches public servers only, for the duration of a `with` block.

    Browsers started with `command_prefix` connect directly to the real servers. Hosts that are not
    public are reachable if `allow` has their address or range. `upstream_ca` is a file of
    certificates (PEM) to trust in addition to the browser's own. Raises `LabError` on entry if it
    cannot be created.
    """

    def __init__(self, allow: Sequence[str] = (), upstream_ca: Path | None = None) -> None:
        command = [find_binary(), "live"]
        for entry in allow:
            command += ["--allow", entry]
        if upstream_ca is not None:
            command += ["--upstream-ca", str(upstream_ca.resolve())]
        self._command = command
        self.spki_sha256: str | None = None
        """Keys that Chromium must be set to trust, separated by commas."""
        self.command_prefix: tuple[str, ...] = ()
        """Prefix of a browser's command."""
        self.remark = ""
        """How it differs from the machine's own network; "" if it does not."""
        self.startup_ms = 0.0

    def __enter__(self) -> Self:
        self._conversation = Conversation("the live network", self._command)
        try:
            ready = self._conversation.wait_for("ready", READY_TIMEOUT_S)
        except BaseException:
            self._conversation.end(END_GRACE_S)
            raise
        self.spki_sha256 = ",".join(ready["spki_sha256"]) or None
        self.command_prefix = (find_binary(), "enter", "--pid", str(ready["init_pid"]), "--")
        self.remark = IPV4_ALONE if ready["ipv6_not_forwarded"] else ""
        self.startup_ms = ready["startup_ms"]
        return self

    def stop(self) -> LabSummary:
        """Stop it, once, and return its summary of the load; raises `LabError` if it had failed."""
        try:
            self._conversation.say_no_more()
            summary = self._conversation.wait_for("summary", STOP_TIMEOUT_S)
        finally:
            self._conversation.end(END_GRACE_S)
        return LabSummary(suspended=read_suspended(summary))

    def __exit__(self, *_: object) -> None:
        self._conversation.end(END_GRACE_S)
