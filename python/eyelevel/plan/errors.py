"""What can be wrong with a plan."""

from eyelevel.errors import ExpectedError


class PlanError(ExpectedError):
    """A plan is refused; the message gives file, line, what is wrong and the way out.

    `problems` lists all that were found, one line each; the message is these lines.
    """

    def __init__(self, problems: list[str]) -> None:
        """Keep the problems and make them the message."""
        super().__init__("\n".join(problems))
        self.problems = problems
