"""`eyelevel record --proxy`: credentials are printed, and nobody is served without them."""

import re
import signal
import subprocess
import urllib.error
import urllib.request

import pytest
from loads import COMMAND
from pages import page_server
from timeouts import TEST_TIMEOUT_S


def asked(proxy: str, url: str) -> int:
    """The answer's status; its client leaves before its body."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
    with opener.open(url, timeout=TEST_TIMEOUT_S) as answer:
        return int(answer.status)


def test_clients_with_the_printed_credentials_are_recorded(tmp_path):
    out = tmp_path / "site.wacz"
    with page_server() as origin:
        command = [*COMMAND, "record", "--proxy", "0", "--out", str(out)]
        command += ["--allow", origin.removeprefix("http://")]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
        said = process.stderr.readline()
        proxy, name, password, place = re.search(
            r"recording at (http://(\w+):(\w+)@(127\.0\.0\.1:\d+));", said
        ).groups()
        assert name == "eyelevel" and len(password) == 32
        assert asked(proxy, f"{origin}/focused") == 200
        for other in (f"http://{place}", f"http://eyelevel:{'0' * 32}@{place}"):
            with pytest.raises(urllib.error.HTTPError, match="407"):
                asked(other, f"{origin}/style.css")
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=TEST_TIMEOUT_S)
    assert process.returncode == 0, rest
    assert "a request without this run's credentials" in rest
    assert password.encode() not in out.read_bytes()
