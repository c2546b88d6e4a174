"""What a visitor does while a page is recorded: steps in a file, as plans have them."""

from pathlib import Path

from eyelevel.plan.after_load import STEPS_MAX, Step, parse_step


def read_script(file: Path) -> tuple[Step, ...]:
    """One step a line, `#` begins a comment line; raises ValueError with file and line."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read the script {file}: {error}") from error
    steps = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            steps.append(parse_step(line))
        except ValueError as error:
            raise ValueError(f"{file}, line {number}: {error}") from error
        if len(steps) > STEPS_MAX:
            raise ValueError(f"{file}, line {number}: more than {STEPS_MAX} steps")
    return tuple(steps)
