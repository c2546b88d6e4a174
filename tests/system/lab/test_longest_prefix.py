"""Mahimahi's rule, off unless a plan allows it: the longest common prefix answers."""

import sys

import pytest
from labs import CORPUS, FAST, run_in

from eyelevel.lab.client import Lab, LabConfig
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.stack_presets import STACKS_BY_NAME

FETCH = """
import ssl, sys, urllib.error, urllib.request
context = ssl.create_default_context(cadata=sys.argv[2])
try:
    with urllib.request.urlopen(sys.argv[1], context=context) as answer:
        print(answer.status)
except urllib.error.HTTPError as error:
    print(error.code)
"""


@pytest.mark.parametrize(
    ("allowed", "status", "match"), [(True, 200, "prefix"), (False, 404, "miss")]
)
def test_the_longest_prefix_answers_only_where_it_may(
    labs: None, allowed: bool, status: int, match: str
) -> None:
    stack = lab_stack(STACKS_BY_NAME["http1"], FAST)
    site = str(CORPUS / "agency.wacz")
    config = LabConfig(lab_path(FAST), 1, site, stack, longest_prefix=allowed)
    with Lab(config) as lab:
        url = f"{lab.ready.main_url}nowhere-recorded"
        fetched = run_in(lab, sys.executable, "-c", FETCH, url, lab.ready.ca_certificate or "")
        requests = lab.stop().requests
    assert fetched.stdout.strip() == str(status), fetched.stderr
    assert [each["match"] for each in requests] == [match]
