"""A recording that is not the plan's any more is found by the lab that serves it."""

from pathlib import Path

import pytest
from small_site import pack_small_site

from eyelevel.base.errors import InputChangedError
from eyelevel.load.trial import run_trial
from eyelevel.plan.networks.presets import find_network
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.trials import Site, expand
from eyelevel.sites.recorded import open_site

pytestmark = pytest.mark.usefixtures("labs")


def test_no_load_is_made_of_another_recording(tmp_path: Path) -> None:
    path = pack_small_site(tmp_path)
    plan = one_cell("small", [find_network("dsl")], STACKS_BY_NAME["tcp+"], 1, 1)
    (planned,) = expand(plan, [Site("small", "sha256:" + "0" * 64)])
    with pytest.raises(InputChangedError) as error:
        run_trial(planned, str(path))
    assert open_site(str(path)).digest in str(error.value)
