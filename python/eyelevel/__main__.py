"""The command `eyelevel`, except for the shell of `eyelevel path`, started by its script."""

import sys

from eyelevel.cli.completion.answer import COMPLETION_COMMAND, answer_completion

if (
    sys.argv[1 : 1 + len(COMPLETION_COMMAND)] == COMPLETION_COMMAND
):  # before slow imports: the user's shell is waiting
    sys.stdout.write(answer_completion(sys.argv[1 + len(COMPLETION_COMMAND) :]))
    sys.exit(0)

from eyelevel.cli.main import main

sys.exit(main())
