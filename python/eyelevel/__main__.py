"""The command `eyelevel` but for the shell of `eyelevel path`, which its script starts at once."""

import sys

from eyelevel.cli.completion.answer import ASKED, answer_completion

if sys.argv[1 : 1 + len(ASKED)] == ASKED:  # before anything slow is imported: somebody waits
    sys.stdout.write(answer_completion(sys.argv[1 + len(ASKED) :]))
    sys.exit(0)

from eyelevel.cli.main import main

sys.exit(main())
