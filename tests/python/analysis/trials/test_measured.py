import polars as pl
from sample_record import sample_connection, sample_record, sample_request

from eyelevel.analysis.trials.facts import FACT_COLUMNS, TRIAL_COLUMNS, facts_of, measure_rows


def a_record(stack: str, head_bytes: int, up: int, repetition: int = 1, outcome: str = "ok"):
    record = sample_record(stack=stack, repetition=repetition, outcome=outcome)
    record["requests"] = [
        sample_request(url=f"https://a.example/{number}", connection=7) for number in range(4)
    ]
    record["connections"] = [sample_connection(8, sent_bytes=2000, received_bytes=up)]
    first = {"request_head_bytes": 7 * head_bytes, "response_head_bytes": 3 * head_bytes}
    table = {"encoder_received_bytes": 40, "encoder_sent_bytes": head_bytes}
    others = (first | table, {"request_head_bytes": None})
    record["connections"] += [sample_connection(7, **each) for each in others]
    unknown = {"lateness_us_p99": None, "lateness_us_max": None}
    record["path"] = {
        "down": {"packets": 400, **unknown, "arrival": unknown},
        "up": {"packets": up, **unknown, "arrival": unknown},
    }
    record["browser"] |= {"cpu_s": 2.5, "navigation_start_ns": 0}
    record["host"] = {**record["host"], "server_cpu_s": 0.0123}
    return record


def test_what_only_loads_can_tell_is_told_by_their_medians():
    records = [
        a_record("tcp", 60, 200),
        a_record("tcp", 80, 400, repetition=2),
        a_record("quic", 50, 100),
        a_record("quic", 900, 900, repetition=2, outcome="starved"),
    ]
    rows = map(facts_of, records)
    table = pl.DataFrame(list(rows), schema=TRIAL_COLUMNS | FACT_COLUMNS, orient="row")
    over_quic = pl.when(pl.col("stack") == "quic")
    table = table.with_columns(
        http3_object_count=over_quic.then(7.0).otherwise(0.0),
        http3_received_bytes=over_quic.then(7000.0).otherwise(0.0),
        cached_object_count=0.0,
        revalidated_object_count=0.0,
    )
    found = dict(measure_rows(table, ["tcp", "quic", "absent"]))
    dash = "\N{EN DASH}"
    assert found["encoded head of a request, mean"] == ["132 bytes", "98 bytes", dash]
    assert found["encoded head of a response, mean"] == ["70 bytes", "50 bytes", dash]
    assert found["connections opened"] == ["3", "3", dash]
    assert found["connections without a request"] == ["1", "1", dash]
    assert found["bytes on connections without a request"] == ["2,300 bytes", "2,100 bytes", dash]
    assert found["objects over HTTP/3"] == ["0", "7", dash]
    assert found["bytes over HTTP/3"] == ["0 bytes", "7,000 bytes", dash]
    assert "objects from the cache" not in found and "revalidated objects" not in found
    assert found["packets up for each packet down"] == ["0.75", "0.25", dash]
    assert found["browser's CPU time per load"] == ["2.5 s", "2.5 s", dash]
    assert found["servers' CPU time per load"] == ["12.3 ms", "12.3 ms", dash]


def test_heads_of_two_visits_are_not_divided_by_the_requests_of_one():
    columns = [*TRIAL_COLUMNS, *FACT_COLUMNS]
    record = a_record("quic", 50, 100)
    place = columns.index("request_head_bytes")
    assert facts_of(record)[place : place + 2] == (97.5, 50.0)
    record["trial"]["browser"] = {**record["trial"]["browser"], "visit": "warm"}
    record["browser"]["navigation_start_ns"] = 0
    assert facts_of(record)[place : place + 2] == (None, None)
