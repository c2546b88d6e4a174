"""What loads ran on, from what each machine says of itself."""

import polars as pl
import pytest
from synthetic_fleet import fleet_run, write_machine_document
from synthetic_run import TWO_STACKS, environment, metrics_of, read_run

from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.study import read_results
from eyelevel.analysis.trials.run_environments import environment_of, run_environments
from eyelevel.analysis.two_runs import run_differences
from eyelevel.base.errors import StoreError
from eyelevel.report.first_screen.warnings import machine_warnings
from eyelevel.report.page import page, summary_of
from eyelevel.report.sections.methods import paragraph
from eyelevel.store.directory import ENVIRONMENT_FILE, write_document

CLIENT = {"cpu": "of the committer", "cores": 1, "load_1min": 50.0, "realtime_allowed": False}
CLIENT |= {"versions": {"eyelevel": "0.1.0", "browser": "none", "kernel": "5.0 of the committer"}}
CHECKS = {"late by, mean": {"measured": "9 µs", "bound": "100 µs", "passed": True}}
LATE = {"late by, mean": {"measured": "900 µs", "bound": "100 µs", "passed": False}}


def lab(**changed):
    said = {"versions": {"eyelevel": "0.1.0", "browser": "Chromium 156", "kernel": "6.1 of labs"}}
    said |= {"cpu": "of labs", "cores": 64, "load_1min": 1.0, "realtime_allowed": True}
    return said | {"path_checks": CHECKS} | changed


def fleet(directory, **environments):
    """What is read of a run whose machines say that of themselves, and whose client is another."""
    fleet_run(directory, list(environments), blocks=4)
    for machine, said in environments.items():
        write_machine_document(directory, machine, environment=said)
    document = {"version": 1, "client": CLIENT, "secure_shares": {"startup": 0.5}}
    write_document(directory, ENVIRONMENT_FILE, document)
    return read_results(directory, metrics_of)


def test_a_report_tells_of_the_machines_that_loaded_and_not_of_the_one_that_committed(tmp_path):
    results = fleet(tmp_path, a=lab(), b=lab(load_1min=2.0))
    text = page(results).replace(NO_BREAK, " ")
    assert "of the committer" not in text
    assert "Chromium 156 on Linux 6.1 of labs" in paragraph(results)
    assert "host-a (16), host-b (16)" in text and "startup is not entirely https." in text
    assert machine_warnings(results) == [], "the client alone was busy"
    said = summary_of(results)
    assert said["environment"]["cpu"] == "of labs" and said["environment"]["load_1min"] == 2.0
    assert [(each["name"], each["loads"]) for each in said["run_environments"]] == [
        ("host-a", 16),
        ("host-b", 16),
    ]
    assert said["run_environments"][1]["environment"] == lab(load_1min=2.0)


def test_so_it_does_of_one_machine(tmp_path):
    said = summary_of(fleet(tmp_path, a=lab()))
    assert (
        said["environment"]["cpu"] == "of labs" and said["run_environments"][0]["name"] == "host-a"
    )
    assert said["machines"] == []


def test_the_worst_path_is_told_and_a_load_average_is_no_measurement(tmp_path):
    late = lab(load_1min=60.0, path_checks=LATE)
    found = dict(machine_warnings(fleet(tmp_path, a=lab(), b=late, c=lab())))
    assert "The machine was busy." not in found, "what loads measured says so, and nothing else"
    assert "900 µs" in found["The emulated network was not within its bounds."]


def test_what_differs_is_listed_those_with_most_loads_first(tmp_path):
    odd = lab(cpu="odd", cores=2, realtime_allowed=False)
    odd["versions"] = odd["versions"] | {"kernel": "6.6"}
    results = fleet(tmp_path, a=odd, b=lab(), c=lab())
    said = results.environment
    by_loads = [each.machine for each in results.run_environments]
    first = "odd" if by_loads[0] == "a" else "of labs"
    assert set(said["cpu"].split(", ")) == {"odd", "of labs"} and said["cpu"].startswith(first)
    assert set(said["versions"]["kernel"].split(", ")) == {"6.6", "6.1 of labs"}
    assert said["versions"]["browser"] == "Chromium 156"
    assert set(said["realtime_allowed"].split(", ")) == {"yes", "no"}
    lines = run_differences(results, fleet(tmp_path / "later", a=lab(), b=lab()))
    assert any(line.startswith("cpu: ") and line.endswith("of labs now") for line in lines)


def test_a_machine_of_which_nothing_is_known_is_not_told_to_be_like_the_others():
    table = pl.DataFrame({"machine": ["a", "a", "b"]})
    machines = run_environments(
        {"client": CLIENT}, {"a": {"name": "A", "environment": lab()}}, table
    )
    assert environment_of({"client": CLIENT}, machines)["cpu"] == "of labs, unknown"


def test_loads_that_the_client_made_itself_ran_on_it():
    table = pl.DataFrame({"machine": ["a", "a", None]})
    own = {"version": 1, "client": CLIENT}
    machines = run_environments(own, {"a": {"name": "A", "environment": lab()}}, table)
    assert environment_of(own, machines)["cpu"] == "of labs, of the committer"
    assert [each.is_measured for each in machines] == [True, False]
    alone = run_environments(environment(), {}, pl.DataFrame({"machine": [None]}))
    assert [each.is_measured for each in alone] == [True], "checked when the run began"


def test_that_such_loads_had_no_checks_of_the_path_is_told(tmp_path):
    read_run(tmp_path, None, TWO_STACKS)
    own = {"version": 1, "client": lab() | {"path_checks": CHECKS}}
    for checked in (True, False):
        if not checked:
            del own["client"]["path_checks"]
        write_document(tmp_path, ENVIRONMENT_FILE, own)
        results = read_results(tmp_path, metrics_of)
        found = dict(machine_warnings(results))
        text = found.get("A machine that made loads was not checked.", "")
        assert (f"{results.table.height} loads were made without --cluster" in text) != checked


def test_the_level_of_a_pair_is_that_of_a_machine_that_measured_all_of_it():
    pair = {"first": "tcp", "second": "quic"}
    said = [lab(levels=[pair | {"complete": part}]) for part in (False, True)]
    documents = {name: {"environment": each} for name, each in zip("ab", said, strict=True)}
    table = pl.DataFrame({"machine": ["a", "b"]})
    own = {"client": {}}
    found = environment_of(own, run_environments(own, documents, table))["levels"]
    assert found == [pair | {"complete": True}]


def test_a_run_without_a_cluster_is_told_as_it_says(tmp_path):
    results = read_run(tmp_path, None, TWO_STACKS)
    assert results.environment == environment() and len(results.run_environments) == 1
    assert "loaded on machines" not in page(results)
    slow = environment() | {"path_checks": LATE}
    write_document(tmp_path, ENVIRONMENT_FILE, slow)
    [(head, text)] = machine_warnings(read_results(tmp_path, metrics_of))
    assert head == "The emulated network was not within its bounds." and "900 µs" in text


def test_a_damaged_environment_of_a_machine_is_refused(tmp_path):
    with pytest.raises(StoreError, match=r"a\.json: `environment\.cores`"):
        fleet(tmp_path, a=lab(cores="many"))
