"""Print shell-completion scripts (`eyelevel completion`)."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.base.errors import ExpectedError
from eyelevel.cli.output import hints, say


class Shell(StrEnum):
    """Shells with a completion script."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


SCRIPTS: dict[Shell, str] = {
    Shell.bash: r"""_eyelevel() {
    local word command=${COMP_WORDS[0]/#\~/$HOME}
    COMPREPLY=()
    while IFS=$'\t' read -r word _; do
        COMPREPLY+=("$word")
    done < <("$command" completion words "$COMP_CWORD" "${COMP_WORDS[@]:1}" 2>/dev/null)
}
complete -o bashdefault -o default -F _eyelevel eyelevel
""",
    Shell.zsh: r"""#compdef eyelevel
_eyelevel() {
    local -a found
    local word description command=${words[1]/#\~/$HOME}
    while IFS=$'\t' read -r word description; do
        found+=("${word//:/\\:}:$description")
    done < <("$command" completion words $((CURRENT - 1)) "${(@)words[2,-1]}" 2>/dev/null)
    if (( ${#found} )); then
        _describe eyelevel found
    else
        _files
    fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _eyelevel "$@"
else
    compdef _eyelevel eyelevel
fi
""",
    Shell.fish: r"""function __eyelevel_words
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l found ($before[1] completion words (count $before) $before[2..-1] $current 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path $current
    end
end
complete -c eyelevel -f -a '(__eyelevel_words)'
""",
}  # fmt: skip
KEPT: dict[Shell, str] = {
    Shell.bash: "~/.local/share/bash-completion/completions/eyelevel",
    Shell.zsh: "~/.zfunc/_eyelevel",
    Shell.fish: "~/.config/fish/completions/eyelevel.fish",
}
"""Paths where shells look for completions; for zsh its `fpath` must include the folder."""


def completion(
    shell: Annotated[
        Shell | None, typer.Argument(help="The shell; by default the one in $SHELL.")
    ] = None,
) -> None:
    """Print a shell-completion script for commands, options, networks, stacks, sites and plans.

    For the current shell only: `source <(eyelevel completion bash)`, or with fish `eyelevel
    completion fish | source`. To keep it, write it where the shell looks, as the command says on a
    terminal.
    """
    chosen = shell or _own_shell()
    print(SCRIPTS[chosen], end="")
    kept = KEPT[chosen]
    again = f"eyelevel completion {chosen.value}"
    if hints.is_terminal:
        say(hints, f"# for good: mkdir -p {kept.rpartition('/')[0]}; {again} >{kept}")


def _own_shell() -> Shell:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in list(Shell):
        raise ExpectedError(
            f"completing for $SHELL, `{name}`: there are scripts for {', '.join(Shell)}; name one "
            "of them, as in `eyelevel completion bash`"
        )
    return Shell(name)
