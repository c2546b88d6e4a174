"""Find what is left of a command. Namespaces do not show it: a number is reused as soon as its
namespace has gone, and other labs run on the same machine."""

import uuid
from pathlib import Path

VARIABLE = "MARK_OF_A_TEST"
OWN_NAMESPACE = str(Path("/proc/self/ns/net").readlink())


class Mark:
    """A word in the environment, which all that a command starts inherit, wherever they go."""

    def __init__(self) -> None:
        self.environment = {VARIABLE: uuid.uuid4().hex}

    def processes(self) -> set[int]:
        """Living processes that have it; a zombie has no environment."""
        word = f"{VARIABLE}={self.environment[VARIABLE]}\0".encode()
        found = set()
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    if word in (folder / "environ").read_bytes():
                        found.add(int(folder.name))
                except OSError:
                    continue
        return found
