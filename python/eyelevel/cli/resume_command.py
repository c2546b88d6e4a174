"""Build the command line that resumes an interrupted command."""

import shlex
from collections.abc import Iterator, Sequence

import typer

RESUME = "--resume"


def resume_command(context: typer.Context) -> str:
    """Return the command line that resumes: all arguments and options as given, and `--resume`."""
    words = ["eyelevel", str(context.info_name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        is_given = source is not None and source.name == "COMMANDLINE"
        if parameter.param_type_name == "argument":
            words.append(str(context.params[name]))
        elif RESUME in parameter.opts:
            words.append(RESUME)
        elif is_given:
            # Only flags may have no value in `params`.
            words += _words_of(
                parameter.opts, parameter.secondary_opts, context.params.get(name, True)
            )
    return shlex.join(words)


def _words_of(flags: Sequence[str], opposites: Sequence[str], value: object) -> Iterator[str]:
    if isinstance(value, bool):
        yield max(flags if value else opposites, key=len)
        return
    for each in value if isinstance(value, list | tuple) else [value]:
        yield from (max(flags, key=len), str(each))
