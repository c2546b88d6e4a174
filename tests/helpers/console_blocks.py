"""The console blocks of a page, as its reader would type them, and what is said of each.

A block is fenced as `console`. A line that begins with `$ ` begins a command, which goes on while
the shell wants more; other lines are what the command prints. Comments in lines of their own before
the block say what a test should know:

    <!-- not run: REASON -->     it cannot run here; the reason is one of `REASONS`
    <!-- run with: OPTIONS -->   what the test adds to each command of the block, to make it short
    <!-- where: A => B; C => D -->  what the test has in the place of a reader's words
    <!-- ends: 1 3 -->           the exit statuses of the last command that are right; else 0
    <!-- prints otherwise -->    what is shown was printed by another run, and is not compared
    <!-- prepare: COMMAND -->    what a reader has by then, and this folder has not
    <!-- file: NAME -->          the block, of any language, is a file that later blocks read
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

REASONS = (
    "asks the real Internet",
    "builds the project",
    "installs packages",
    "needs a cloud",
    "needs a cluster's nodes",
    "needs a container engine",
    "needs a desktop",
    "needs Kubernetes",
    "takes minutes",
)

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_SAID = re.compile(
    r"<!-- ((?:not run|run with|where|ends|prepare|file): .+?|prints otherwise) -->\n\Z"
)
_INDENTED = re.compile(
    r"^(?: {4}|\t) *(?:\$ |(?:sudo )?"
    r"(?:eyelevel|sbatch|kubectl|pip|pipx|uvx|apt-get|make|podman|docker|scripts/\w+) )"
)


@dataclass(frozen=True)
class Command:
    """One command and what the page shows of its output."""

    words: str
    shown: str


@dataclass(frozen=True)
class Block:
    """The text between two fences."""

    line: int
    commands: tuple[Command, ...] = ()
    file: str = ""
    content: str = ""
    not_run: str = ""
    run_with: str = ""
    where: tuple[tuple[str, str], ...] = ()
    prepare: str = ""
    ends: tuple[int, ...] = (0,)
    is_shown_of_another: bool = False


def blocks(text: str) -> list[Block]:
    """The console blocks and files of a page, in their order."""
    found = []
    for fence in _FENCE.finditer(text):
        indent, language, body = fence.groups()
        body = re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
        directives = _sayings(text[: fence.start()])
        line = text.count("\n", 0, fence.start()) + 1
        if "file" in directives:
            content = _in_place(body, _pairs(directives.get("where", "")))
            found.append(Block(line, file=directives["file"], content=content))
        elif language == "console":
            ends = tuple(int(each) for each in directives.get("ends", "0").split())
            found.append(
                Block(
                    line,
                    _commands(body),
                    not_run=directives.get("not run", ""),
                    run_with=directives.get("run with", ""),
                    where=_pairs(directives.get("where", "")),
                    prepare=directives.get("prepare", ""),
                    ends=ends,
                    is_shown_of_another="prints otherwise" in directives,
                )
            )
    return found


def stray_commands(text: str) -> list[str]:
    """Return lines outside of console blocks that look like commands to type."""
    outside = _FENCE.sub("", text)
    shells = [
        f"a block of {language}"
        for _, language, _ in (fence.groups() for fence in _FENCE.finditer(text))
        if language in ("sh", "bash", "shell")
    ]
    return shells + [line for line in outside.splitlines() if _INDENTED.match(line)]


def _sayings(before: str) -> dict[str, str]:
    directives = {}
    while found := _SAID.search(before.rstrip(" ")):
        name, _, value = found[1].partition(": ")
        directives[name] = value
        before = before[: found.start()]
    return directives


def _pairs(where: str) -> tuple[tuple[str, str], ...]:
    """Parse `A => B; C => D`."""
    halves = (each.partition(" => ") for each in where.split("; ") if each)
    return tuple((old, new) for old, _, new in halves)


def _in_place(words: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for old, new in pairs:
        words = words.replace(old, new)
    return words


def _commands(body: str) -> tuple[Command, ...]:
    commands: list[Command] = []
    words, output = "", []
    is_open = False
    for line in body.splitlines():
        if is_open:
            words += "\n" + line
        elif line.startswith("$ "):
            if words:
                commands.append(Command(words, "\n".join(output)))
            words, output = line[2:], []
        else:
            output.append(line)
            continue
        is_open = _wants_more(words)
    return (*commands, Command(words, "\n".join(output)))


def _wants_more(words: str) -> bool:
    """Return whether a shell that was given these words waits for more."""
    if words.endswith("\\"):
        return True
    if not re.search(r"<<|\b(?:do|then)\b|['\"{(]", words):
        return False
    checked = subprocess.run(
        ["bash", "-n", "-c", words], capture_output=True, text=True, check=False
    )
    return (
        "unexpected end of file" in checked.stderr
        or "unexpected EOF" in checked.stderr
        or ("delimited by end-of-file" in checked.stderr)
    )


def script_of(block: Block, to: Path) -> str:
    """Bash that runs the block's commands in turn, each with its output and status in `to`."""
    lines = [f"{block.prepare or ':'} || exit 1"]
    for number, command in enumerate(block.commands):
        words = _in_place(command.words, block.where)
        if block.run_with and "eyelevel " in words:
            # A comment is the reader's; what is added stands before it.
            words, hash_, rest = words.partition("  #")
            words = f"{words.rstrip()} {block.run_with}{hash_}{rest}"
        file = to / str(number)
        lines += ["{", words, f"}} >{file} 2>&1 </dev/null", f"echo $? >{file}.status"]
    return "\n".join(lines) + "\n"


def is_shown(expected: str, printed: str) -> bool:
    """Return whether what a page shows was printed: in any lines, with any numbers, `...` for
    anything."""
    parts = [part.split() for part in expected.split("...")]
    patterns = [r"\s+".join(map(_with_any_numbers, words)) for words in parts]
    return re.search(r"[\s\S]*".join(patterns), printed) is not None


def _with_any_numbers(word: str) -> str:
    return re.sub(r"[\d.]*\d", r"[-+−]?[\\d.]*\\d", re.escape(word).replace(r"\.", "."))
