"""How much of a load came in cleartext."""

import pytest
from sample_record import sample_object, sample_record

from eyelevel.analysis.metrics.network import cleartext_share
from eyelevel.analysis.trials.facts import FACT_COLUMNS, TRIAL_COLUMNS, facts_of


def test_bytes_that_came_over_http_count_whatever_the_stack():
    record = sample_record(stack="quic")
    record["objects"] = [
        sample_object(url="https://a.example/", protocol="h3", encoded_bytes=600),
        sample_object(url="http://b.example/", protocol="http/1.1", encoded_bytes=200),
        sample_object(url="http://b.example/2", protocol="http/1.1", encoded_bytes=200)
        | {"from": "cache"},
    ]
    assert cleartext_share(record) == pytest.approx(0.25)
    row = dict(zip((*TRIAL_COLUMNS, *FACT_COLUMNS), facts_of(record), strict=True))
    assert row["cleartext_share"] == pytest.approx(0.25)


def test_where_nothing_came_there_is_no_share():
    assert cleartext_share(sample_record()) is None
