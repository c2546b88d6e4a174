"""Names of hosts, against Chromium's own URLs and against curl's libidn2."""

import random
import shutil
import socket
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from opened_page import chromium_of_playwright
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.from_outside.host_names import NAME, name_in_dns, spell_in_dns
from eyelevel.cli.site.record import host_of
from eyelevel.cli.validate.live import is_same_page
from eyelevel.probes.selection import select_hosts
from eyelevel.run.live.load import LivePage

MAPPED = {
    "stra\u00dfe.test": "xn--strae-oqa.test",
    "STRASSE.test": "strasse.test",
    "\u1e9e.example": "xn--zca.example",
    "fa\u00df.de": "xn--fa-hia.de",
    "\u03b2\u03cc\u03bb\u03bf\u03c2.com": "xn--nxasmm1c.com",
    "B\u00fccher.Example": "xn--bcher-kva.example",
    "\u00fc.u\u0308.example": "xn--tda.xn--tda.example",
    "\u2615.example": "xn--53h.example",
    "a\u3002b\uff0ec\uff61d": "a.b.c.d",
    "\uff37\uff37\uff37.example": "www.example",
    "x\u00ad\u200by\u00e9.example": "xn--xy-cja.example",
    "\u0646\u0627\u0645\u0647\u200c\u0627\u06cc.com": "xn--mgba3gch31f060k.com",
    "xn--bcher-kva.\u00fc": "xn--bcher-kva.xn--tda",
    "_a-.\u00fc": "_a-.xn--tda",
}
REFUSED = (
    *("\u0661\u0662\u0663.example", "1.\u05d1", "\u0300\u00fc.de", "\u00fc\u200d.de"),
    *(
        "\u00fc.xn--a",
        "\u00fc.xn--ASCII-",
        "\u00fc\ufffd.de",
        "\U0001f3f3\ufe0f\u200d\U0001f308.ws",
    ),
)
LETTERS = (
    *"abcxyz09-_",
    *"\u00df\u00fc\u00c9\u00f8\u0131\u0130\u0153\u1e9e\u03c2\u03a3\u0436\u05d0\u05d1\u0627\u0646",
    *"\u0661\u06f1\u0915\u094d\u0937\u200c\u200d\u00ad\u0301\u3042\u30ab\u6f22\uff21\uff11\u2163",
    *"\u2615\u2764\ufe0f\U0001f600\u3002\u2024\u00b7\u30fb\u0149\u017f\u212a\u1fb3\ufb01\u2260",
)


def generated(count: int) -> list[str]:
    """Names of letters that IDNA 2003, IDNA 2008 and UTS 46 take differently; each ends in one."""
    drawn = random.Random(46)
    names = (
        ".".join("".join(drawn.choices(LETTERS, k=drawn.randint(1, 6))) for _ in range(2))
        for _ in range(count)
    )
    return [f"{name}.\u00e9" for name in names]


def taken(name: str) -> str | None:
    try:
        return name_in_dns(name)
    except ValueError:
        return None


def test_names_are_mapped_as_uts_46_has_it() -> None:
    assert {name: taken(name) for name in MAPPED} == MAPPED
    for name in REFUSED:
        with pytest.raises(ValueError):
            name_in_dns(name)


def test_chromium_reads_every_name_alike() -> None:
    names = [*MAPPED, *REFUSED, *generated(4000)]
    read = "names => names.map(n => { try { return new URL(`https://${n}/`).hostname } "
    with chromium_of_playwright() as browser:
        theirs = browser.new_page().evaluate(f"{read} catch (e) {{ return null }} }})", names)
    differ = {n: (taken(n), it) for n, it in zip(names, theirs, strict=True) if taken(n) != it}
    assert not differ
    assert 200 < sum(it is not None for it in theirs) < len(names) - 200, "both kinds are tried"


def asked_by_curl(names: Sequence[str], folder: Path) -> list[str]:
    """Return the hosts that curl asks a proxy for: nothing is looked up, nothing leaves."""
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for _ in names:
                connection, _ = server.accept()
                with connection:
                    head = connection.recv(4096)
                    asked.append(head.split(b"/")[2].decode().lower())
                    connection.sendall(b"HTTP/1.0 204 No Content\r\nConnection: close\r\n\r\n")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        config = folder / "curl"
        lines = [f'url = "http://{name}/"\n' for name in names]
        config.write_text("".join(lines), encoding="utf-8")
        proxy = f"http://127.0.0.1:{server.getsockname()[1]}"
        command = ["curl", "-sS", "--noproxy", "", "--proxy", proxy, "-K", str(config)]
        subprocess.run(command, check=True, timeout=TEST_TIMEOUT_S, env={"LC_ALL": "C.UTF-8"})
        thread.join(TEST_TIMEOUT_S)
    return asked


def test_curl_asks_for_the_same_names(tmp_path: Path) -> None:
    """libidn2 maps without `transitional`, too. It takes some names that browsers refuse."""
    if shutil.which("curl") is None:
        pytest.skip("not installed: curl")
    version = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True)
    if "libidn2" not in version.stdout:
        pytest.skip("this curl has no libidn2")
    # Debian 12's libidn2 has Unicode 14, which maps the capital sharp s to `ss`.
    names = [name for name in MAPPED if not name.startswith(("xn--", "_", "\u1e9e"))]
    assert asked_by_curl(names, tmp_path) == [MAPPED[name] for name in names]


def test_what_can_be_a_name_is_found_in_linear_time() -> None:
    """22 letters and an exclamation mark once took a second, and each further letter doubled it."""
    assert NAME.fullmatch("a" * 200 + "!") is None and NAME.fullmatch("a." * 100 + "!") is None
    assert NAME.fullmatch("www.example.com.") and NAME.fullmatch("_dmarc.example.com")
    assert NAME.fullmatch("a" * 63 + ".example") and not NAME.fullmatch("a" * 64 + ".example")
    assert not NAME.fullmatch("a..b") and not NAME.fullmatch("-a.example")


def test_whoever_takes_a_url_or_a_host_means_the_same_one() -> None:
    url, host = "https://stra\u00dfe.test/", "xn--strae-oqa.test"
    assert LivePage(url).origin == (f"{host}:443",)
    assert host_of(url) == host
    assert is_same_page(url, f"https://{host}/")
    assert not is_same_page(url, "https://strasse.test/")
    assert len(select_hosts([pl.DataFrame({"host": [host]})], ["stra\u00dfe.test"])[0]) == 1
    assert spell_in_dns("\u00fc\ufffd") == "\u00fc\ufffd", "what browsers refuse stays"
