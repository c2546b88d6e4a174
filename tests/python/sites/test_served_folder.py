"""A folder's files over HTTP: what is in it, for its own user."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from timeouts import TEST_TIMEOUT_S

from eyelevel.sites import served_folder
from eyelevel.sites.served_folder import FolderError, serve_folder


@pytest.fixture
def port(tmp_path: Path) -> Iterator[str]:
    folder = tmp_path / "My Site_2"
    (folder / "below").mkdir(parents=True)
    (folder / "index.html").write_text("<p>hi", encoding="utf-8")
    (folder / "below" / "a.mjs").write_text("1", encoding="utf-8")
    (tmp_path / "secret").write_text("s", encoding="utf-8")
    (folder / "link").symlink_to(tmp_path / "secret")
    with serve_folder(folder) as its:
        assert its.url == "http://my-site-2.test/"
        host, port, address, served_at = its.resolve.split(":")
        assert (host, port, address) == ("my-site-2.test", "80", "127.0.0.1")
        yield served_at


def asked(port: str, path: str) -> tuple[int, str, bytes]:
    try:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}{path}", timeout=TEST_TIMEOUT_S
        ) as answer:
            return answer.status, answer.headers["content-type"], answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, "", b""


def test_files_are_served_and_nothing_outside_or_below(port: str) -> None:
    assert asked(port, "/") == (200, "text/html", b"<p>hi")
    assert asked(port, "/below/a.mjs") == (200, "text/javascript", b"1")
    for path in ("/below/", "/link", "/../secret", "/%2e%2e/secret", "/absent"):
        assert asked(port, path)[0] == 404, path


def test_another_user_gets_nothing(port: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served_folder, "getuid", lambda: 12345)
    assert asked(port, "/") == (403, "", b"")


def test_a_folder_without_a_page_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match=r"no index\.html"), serve_folder(tmp_path):
        pass
