"""A run's directory before its first load: what the run is, and what it runs on."""

from collections.abc import Sequence
from pathlib import Path

from eyelevel.browser.browsers import find_browser
from eyelevel.errors import StoreError
from eyelevel.plan.plan import Plan
from eyelevel.plan.trials import Site, Trial, expand, plan_document, plan_hash
from eyelevel.run.level.measure import levels_of
from eyelevel.run.study.environment import describe
from eyelevel.run.study.time_limits import check_time_limits
from eyelevel.sites.cleartext import check_secure, secure_share
from eyelevel.sites.recorded import RecordedSite, altered_in
from eyelevel.store.claim import claim
from eyelevel.store.commit import recover
from eyelevel.store.directory import (
    ENVIRONMENT_FILE,
    FETCH_FILE,
    PLAN_FILE,
    read_document,
    write_document,
)
from eyelevel.validation.path import short_validation
from eyelevel.validation.stack_cache import measured_cells


def prepare(
    plan: Plan, sites: Sequence[RecordedSite], directory: Path, *, resume: bool
) -> list[Trial]:
    """Write `plan.json` and `environment.json`; the trials in their order.

    Raises StoreError if `directory` holds another plan's run, or this one's without `resume`,
    PlanError if a site has nothing that a stack could be in force on, BrowserStartError if the
    browser is not there; nothing is written then.
    """
    find_browser(plan.browser)
    check_secure(plan.stacks, sites)
    check_time_limits(plan, sites)
    trials = planned(plan, [site.of_plan() for site in sites], directory, resume=resume)
    if not (directory / ENVIRONMENT_FILE).exists():
        environment = describe(plan.browser) | {
            "path_checks": short_validation(),
            "stacks_validated": [cell.as_json() for cell in measured_cells()],
            "levels": levels_of(plan),
        }
        if altered := {site.name: change for site in sites if (change := altered_in(site.path))}:
            environment["altered_sites"] = altered
        shares = {site.name: secure_share(site.path) for site in sites}
        if partly := {name: share for name, share in shares.items() if 0 < share < 1}:
            environment["secure_shares"] = partly
        write_document(directory, ENVIRONMENT_FILE, environment)
    return trials


def planned(plan: Plan, sites: Sequence[Site], directory: Path, *, resume: bool) -> list[Trial]:
    """Write `plan.json` if it is not there yet; the trials. Raises StoreError as `prepare`."""
    trials = expand(plan, sites)
    claim(directory)
    if (directory / PLAN_FILE).exists():
        there = read_document(directory, PLAN_FILE)
        if there.get("hash") != plan_hash(plan, sites):
            raise StoreError(
                f"writing {directory}: it holds the run of another plan; choose another --out"
            )
        if not resume:
            raise StoreError(
                f"writing {directory}: it holds this plan's run; continue it with --resume, "
                "or choose another --out"
            )
        recover(directory)
        (directory / FETCH_FILE).unlink(missing_ok=True)  # from now on it is a run of its own
    elif (directory / FETCH_FILE).exists():
        raise StoreError(
            f"writing {directory}: it holds a part of a run that was fetched; `eyelevel fetch` it "
            "to its end, or choose another --out"
        )
    else:
        write_document(directory, PLAN_FILE, plan_document(plan, sites, trials))
    return trials
