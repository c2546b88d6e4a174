import pytest

from eyelevel.run.study.cores import Processors
from eyelevel.run.study.slots import JobsError, core_sets


def processors(*cores, quota=None):
    return Processors(tuple(map(frozenset, cores)), quota)


def test_every_lab_has_two_cores_of_its_own():
    found = core_sets(processors({0}, {1}, {2}, {5}, {7}), 2)
    assert found == [frozenset({0, 1}), frozenset({2, 5})]


def test_labs_share_no_core_by_its_threads():
    found = core_sets(processors({0, 4}, {1, 5}, {2, 6}, {3, 7}), 2)
    assert found == [frozenset({0, 4, 1, 5}), frozenset({2, 6, 3, 7})]


@pytest.mark.parametrize(
    ("cores", "quota", "jobs", "fit", "said"),
    [
        ([{0}, {1}], None, 2, 1, "may use 2;"),
        ([{0}, {1}, {2}, {3}, {4}], None, 3, 2, "may use 5;"),
        ([{0}], None, 1, 1, "may use 1;"),
        ([{0, 2}, {1, 3}], None, 2, 1, r"may use 2 \(with 4 hardware threads\);"),
        ([{0}, {1}, {2}, {3}], 2.5, 2, 1, "may use the time of 2.5, the quota of"),
    ],
)
def test_too_few_cores_are_refused_with_what_fits(cores, quota, jobs, fit, said):
    with pytest.raises(JobsError, match=f"--jobs {jobs} needs .*{said}.*give --jobs {fit}:"):
        core_sets(processors(*cores, quota=quota), jobs)
