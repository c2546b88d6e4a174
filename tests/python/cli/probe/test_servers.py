"""What `eyelevel probe servers` refuses before it starts anything."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eyelevel.base.errors import ExpectedError
from eyelevel.cli.probe.commands import app
from eyelevel.plan.networks.presets import find_network
from eyelevel.probes.servers import run_row


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ours,apache"], "apache is no server that is known here: choose among nginx"),
        (["ours", "--resume"], "--resume needs --out, the file to continue"),
        (["ours", "--resume", "--out", "rows"], "rows does not exist: leave out --resume to begin"),
        (["ours", "--out", "other"], "other holds something other than JSON lines"),
        ([","], ",: no server is named that is installed here"),
    ],
)
def test_it_is_refused_in_one_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").write_text("a,b\n")
    done = CliRunner().invoke(app, ["servers", *words])
    assert isinstance(done.exception, ExpectedError)
    assert said in str(done.exception) and len(str(done.exception).splitlines()) == 1
    assert (tmp_path / "other").read_text() == "a,b\n" and not (tmp_path / "rows").exists()


def row(protocol: str, number: int) -> dict[str, object]:
    return {
        "event": "attempt", "probed_server": "ours", "block": 0, "protocol": protocol,
        "failure": None, "connection_us": 20_000, "tcp_handshake_us": None,
        "resumption_offered": False, "resumed": False,
        "round_trips": 1, "extra_round_trips": 0, "certificate_bytes": 820,
        "received_bytes": 1500, "sent_bytes": 2400, "retries": 0, "hello_retry_request": False,
        "visit_row": number, "visit_rows": 2,
    }  # fmt: skip


def test_the_answer_says_over_which_network_and_with_which_seed(tmp_path: Path) -> None:
    """A run whose visits are all there: nothing is left to be probed."""
    lte = find_network("lte")
    about = {"servers": ["ours"], "network": lte.settings(), "seed": 7}
    rows = [
        run_row(about),
        *(row(name, n) for name in ("tls1.2", "tls1.3", "quic") for n in range(2)),
    ]
    (tmp_path / "rows").write_text("".join(json.dumps(each) + "\n" for each in rows))
    words = ["servers", "ours", "--network", "lte", "--seed", "7", "--blocks", "1", "--resume"]
    words += ["--out", str(tmp_path / "rows")]
    found = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert found["network"] == json.loads(json.dumps({"name": "lte"} | lte.settings()))
    assert found["seed"] == 7
    assert "over lte, seed 7; ours: " in " ".join(CliRunner().invoke(app, words).output.split())
