"""A server's command that runs while its page is recorded: real processes on loopback."""

import socket
import sys
import urllib.request
from pathlib import Path

import pytest
from synthetic_cluster import ended
from timeouts import TEST_TIMEOUT_S

from eyelevel.sites.served_command import ServedCommandError, serve_command

SERVER = """
import http.server, os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
open("pids", "w").write(f"{os.getpid()} {child.pid}")
http.server.ThreadingHTTPServer(
    ("127.0.0.1", int(os.environ["PORT"])), http.server.SimpleHTTPRequestHandler
).serve_forever()
"""


@pytest.fixture
def url() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"http://localhost:{free.getsockname()[1]}/"


def is_running(pid: int) -> bool:
    """Whether it is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").split()[2] != "Z"
    except FileNotFoundError:
        return False


def test_a_server_answers_within_and_is_ended_with_its_children(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("server.py").write_text(SERVER, encoding="utf-8")
    with serve_command(f"{sys.executable} server.py", url):
        with urllib.request.urlopen(url + "server.py", timeout=TEST_TIMEOUT_S) as answer:
            assert answer.read().decode() == SERVER
        pids = [int(pid) for pid in Path("pids").read_text(encoding="ascii").split()]
        assert all(map(is_running, pids))
    for pid in pids:
        ended(pid)  # a busy machine delays the end of a killed process


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (f"{sys.executable} -c \"print('no config'); raise SystemExit(3)\"", "printed: no config$"),
        (
            f"{sys.executable} -c \"print('Error: no port'); print('v1'); exit(1)\"",
            ": Error: no port$",
        ),
        (
            f"{sys.executable} -c \"print('npm error x: Error: none'); print('a log'); exit(1)\"",
            "printed: npm error x: Error: none$",
        ),
        ("no-such-program", "did not start"),
        ("", "did not start"),
        ('echo "', "did not start"),
    ],
)
def test_a_command_that_does_not_serve_is_named_with_its_reason(
    url: str, command: str, reason: str
) -> None:
    with pytest.raises(ServedCommandError, match=reason), serve_command(command, url):
        pass


def test_a_command_that_listens_elsewhere_is_ended(url: str) -> None:
    elsewhere = f"{sys.executable} -m http.server 0 --bind 127.0.0.1"
    with (
        pytest.raises(ServedCommandError, match="did not listen on localhost"),
        serve_command(elsewhere, url, timeout_s=0.2),
    ):
        pass


def test_a_server_that_was_there_before_is_not_taken_for_the_command(url: str) -> None:
    port = int(url.rsplit(":", 1)[1].strip("/"))
    with (
        socket.create_server(("127.0.0.1", port)),
        pytest.raises(ServedCommandError, match="already accepts connections"),
        serve_command("true", url),
    ):
        pass


def test_a_page_of_another_machine_is_refused() -> None:
    with (
        pytest.raises(ServedCommandError, match="is not on this machine"),
        serve_command("true", "https://example.org/"),
    ):
        pass
