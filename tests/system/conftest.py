"""Fixtures of the tests with real labs."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from labs import CORPUS, FAST, cannot_build_labs
from pages import page_server
from small_site import pack_small_site

from eyelevel.lab.client import Lab, LabConfig
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.network import Network, lab_path
from eyelevel.plan.stack_presets import STACKS_BY_NAME


@pytest.fixture(scope="session", autouse=True)
def no_wait() -> Iterator[None]:
    """Loads here are judged for what they did: no test waits for the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EYELEVEL_HOST_WAIT", "0")
        yield


@pytest.fixture(scope="session")
def labs() -> None:
    """Skips where this machine cannot build labs."""
    if reason := cannot_build_labs():
        pytest.skip(f"no lab can be built here: {reason}")


@pytest.fixture(scope="session")
def small_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded site of one page, its style and one picture."""
    return pack_small_site(tmp_path_factory.mktemp("small-site"))


@pytest.fixture
def new_lab(labs: None) -> Callable[..., Lab]:
    """Makes a lab that serves a site of the corpus; enter it with `with`."""

    def make(
        stack: str = "tcp+",
        network: Network = FAST,
        site: Path | None = CORPUS / "agency.wacz",
        seed: int = 1,
    ) -> Lab:
        served = None if site is None else lab_stack(STACKS_BY_NAME[stack], network)
        return Lab(LabConfig(lab_path(network), seed, site and str(site), served))

    return make


@pytest.fixture(scope="session")
def origin() -> Iterator[str]:
    """A server of small pages on the loopback."""
    with page_server() as found:
        yield found
