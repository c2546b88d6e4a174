"""The time after which a test is taken to hang."""

import os

TEST_TIMEOUT_S = float(os.environ.get("EYELEVEL_TEST_TIMEOUT_S", "600"))
"""The limit for every command and wait of a test; no duration is measured by it. A command that
takes five seconds of one processor, nearly all of them for its imports, took more than a minute on
two processors with a load average of 19. Under a mutation, where a hang is a likely end, it is
shorter (`scripts/mutations`)."""
