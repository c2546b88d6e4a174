"""The one socket of the host that a browser has, the screen's, opens to nobody else."""

import shutil
import socket
import struct

import pytest

from eyelevel.browser.firefox.screen import Screen

FAILED, SUCCESS = 0, 1


def answer(address: str, authority: bytes = b"") -> int:
    """The first byte of an X server's answer to a connection (X Window System Protocol, 8)."""
    name, cookie = (b"MIT-MAGIC-COOKIE-1", authority[-16:]) if authority else (b"", b"")
    lengths = struct.pack("<BxHHHHxx", ord("l"), 11, 0, len(name), len(cookie))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(address)
        connection.sendall(lengths + name + b"\0" * (-len(name) % 4) + cookie)
        return connection.recv(1)[0]


@pytest.mark.parametrize("form", ["/tmp/.X11-unix/X{}", "\0/tmp/.X11-unix/X{}"])
def test_only_who_knows_the_authority_sees_the_screen(tmp_path, form):
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed")
    with Screen(tmp_path, (640, 480)) as screen:
        address = form.format(screen.display.strip(":"))
        assert answer(address) == FAILED
        assert answer(address, bytes(64)) == FAILED
        assert answer(address, screen.authority) == SUCCESS
