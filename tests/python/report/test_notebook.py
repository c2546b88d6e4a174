from synthetic_run import write_run

import eyelevel


def test_a_run_is_a_tidy_frame(tmp_path):
    write_run(tmp_path, {("startup/lte/2", "quic"): "starved"})
    run = eyelevel.open(tmp_path)
    frame = run.frame()
    assert frame.height == 36 and frame["counted"].sum() == 35
    assert {"site", "network", "stack", "outcome", "page_load_time_ms", "objects"} <= {
        *frame.columns
    }
    starved = frame.filter(outcome="starved").row(0, named=True)
    assert starved["page_load_time_ms"] is None and not starved["counted"]
    gain = run.gains().filter(network="dsl", stack="quic", metric="page_load_time_ms")
    assert -0.3 < gain["gain"][0] < 0 and gain["gain_low"][0] < gain["gain"][0]
    assert run.cells().filter(site="startup", metric="page_load_time_ms")["pairs"].max() == 3
    assert "progress_share" not in frame.columns, "a table of numbers can be written as CSV"
    steps = run.progress().filter(hash=frame.filter(outcome="ok")["hash"][0])
    assert steps["share"].to_list()[0::5] == [0.0, 1.0] and steps["at_ms"].is_sorted()
    assert run.progress()["hash"].n_unique() == 35
    assert run.record(frame["hash"][0])["trial"]["site"] in ("startup", "dashboard")
