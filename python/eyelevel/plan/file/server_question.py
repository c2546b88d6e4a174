"""A question about a server, as the text of a plan: its stacks against level ones."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.plan.file.change import sequential_plan, toml_text
from eyelevel.plan.presets import SMALLEST_EFFECT_REASON
from eyelevel.plan.stacks import HttpVersion

LEVEL: dict[HttpVersion, str] = {"h2": "tcp+", "h3": "quic"}
"""The level stacks, by HTTP version; they have the kernel settings of the server's."""
AS_DEPLOYED: dict[HttpVersion, str] = {"h2": "tcp", "h3": "quic"}
"""The stacks with the kernel settings that a server finds where nobody tuned them."""
NAME_LENGTH_MAX = 40


@dataclass(frozen=True)
class ComparedServer:
    """A server that is compared: its name, command, further paths and HTTP versions."""

    name: str
    command: tuple[str, ...]
    paths: tuple[str, ...] = ()
    versions: tuple[HttpVersion, ...] = ("h2", "h3")
    is_as_deployed: bool = False
    """Whether TCP has the kernel's own settings instead of the level ones."""

    def stack_name(self, version: HttpVersion) -> str:
        """Return the name of its stack of an HTTP version, without a plan's mark."""
        return f"{self.name}-{version}"

    def _table(self, version: HttpVersion) -> str:
        base = (AS_DEPLOYED if self.is_as_deployed else LEVEL)[version]
        words, paths = (", ".join(map(toml_text, texts)) for texts in (self.command, self.paths))
        return (
            f"{{ name = {toml_text(self.stack_name(version))}, base = {toml_text(base)}, "
            f"external_server = {{ command = [{words}], protocols = [{toml_text(version)}], "
            f"paths = [{paths}] }} }}"
        )

    @property
    def stacks(self) -> str:
        """The plan's `stacks`: the level ones, then the server's."""
        level = [toml_text(LEVEL[version]) for version in ("h2", "h3")]
        return ", ".join([*level, *map(self._table, self.versions)])

    @property
    def comparisons(self) -> list[tuple[str, str]]:
        """The plan's comparisons; the first is the answer's."""
        pairs = [(self.stack_name(version), LEVEL[version]) for version in self.versions]
        pairs.append((LEVEL["h3"], LEVEL["h2"]))
        if len(self.versions) > 1:
            pairs.insert(0, (self.stack_name("h3"), self.stack_name("h2")))
        return pairs


def server_plan(
    server: ComparedServer,
    sites: Sequence[str],
    networks: Sequence[str],
    blocks_max: int,
    users: str = "",
) -> str:
    """Return the TOML text of a sequential plan that compares a server with level stacks.

    `users`: a plan's `networks` as text, in the place of presets' names. Raises PlanError for an
    unknown network.
    """
    pairs = ", ".join(
        f"[{toml_text(stack)}, {toml_text(reference)}]" for stack, reference in server.comparisons
    )
    request = f"stacks = [{server.stacks}]\ncomparisons = [{pairs}]\n{SMALLEST_EFFECT_REASON}"
    title = f"Is it HTTP/3, or {server.name}'s HTTP/3?"
    return sequential_plan(title, sites, request, networks, blocks_max, users)


def name_of_command(command: Sequence[str]) -> str:
    """Return a name for a command's server: that of its last file, without an ending."""
    words = [word for word in command if "=" not in word and word not in ("env", "sh", "/bin/sh")]
    stem = (words or ["server"])[-1].rpartition("/")[2].partition(".")[0]
    return re.sub(r"[^A-Za-z0-9_+-]+", "-", stem)[:NAME_LENGTH_MAX].strip("-_+") or "server"
