"""The command `eyelevel` but for the shell of `eyelevel path`, which its script starts at once."""

import sys

from eyelevel.cli.main import main

sys.exit(main())
