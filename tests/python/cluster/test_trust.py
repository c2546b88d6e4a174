"""Ports that others reach take certificates, or are opened because the user says so."""

import shutil
import socket
import ssl
import subprocess
from threading import Thread

import dask
import psutil
import pytest
from hang import HANG_S
from made_up_cluster import MadeUpCluster

from eyelevel.cluster.connection import ClusterError
from eyelevel.cluster.trust import check_address, facing
from eyelevel.cluster.where import Where, connected

FIRST = "startup/dsl/1"
BOTH = r"TLS settings \(docs/guides/many-machines.md\), or --trust-network"


@pytest.mark.parametrize("text", ["listen:127.0.0.1:0", "listen:[::1]:0", "listen:localhost:0"])
def test_this_machine_alone_needs_no_certificates(text):
    assert Where.of(text).protocol == "tcp"


@pytest.mark.parametrize(
    "text",
    ["listen:0.0.0.0:0", "listen:[::]:0", "listen:10.0.0.7:8786", "listen:here.example:8786",
     "tcp://10.0.0.7:8786", "tcp://[2001:db8::1]:8786", "tcp://here.example:8786",
     "tcp://127.0.0.1.example:8786"],
)  # fmt: skip
def test_what_others_reach_is_refused_with_both_remedies_unless_it_is_trusted(text):
    with pytest.raises(ClusterError, match=BOTH) as caught:
        Where.of(text)
    assert "\n" not in str(caught.value)
    assert Where.of(text, is_trusted=True).protocol == "tcp"
    if "://" in text:
        with pytest.raises(ClusterError, match=BOTH):
            check_address(text, "worker", is_trusted=False)


def test_an_address_with_tls_needs_the_settings_of_its_side():
    with pytest.raises(ClusterError, match=r"no TLS settings for a worker.*worker\.cert"):
        check_address("tls://10.0.0.7:8786", "worker", is_trusted=True)
    with dask.config.set({"distributed.comm.tls": {"ca-file": "a", "client": {"cert": "b"}}}):
        assert Where.of("tls://10.0.0.7:8786").address
        with pytest.raises(ClusterError, match="no TLS settings for a worker"):
            check_address("tls://10.0.0.7:8786", "worker", is_trusted=False)
        with pytest.raises(ClusterError, match=BOTH):  # a scheduler here needs its own
            Where.of("listen:0.0.0.0:0")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_slots_listen_where_their_scheduler_is_and_nowhere_else(tmp_path, host):
    cluster = MadeUpCluster(tmp_path, {FIRST: ["waits"]})
    cluster.where = f"listen:[{host}]:0" if ":" in host else f"listen:{host}:0"
    heard = []

    def look():
        with cluster.gate(FIRST).open("wb"):  # it is at its gate when somebody can write there
            here = psutil.Process(cluster.workers["one"].pid)
            for process in (here, *here.children(recursive=True)):
                heard.extend(process.net_connections("inet"))

    looking = Thread(target=look)
    looking.start()
    assert cluster.to_its_end("one").done == 18
    looking.join()
    listening = [each.laddr.ip for each in heard if each.status == psutil.CONN_LISTEN]
    # Of their empty HTTP servers the port is one of loopback, whatever the scheduler's is.
    assert len(listening) >= 2 and host in listening and set(listening) <= {host, "127.0.0.1"}


def test_a_scheduler_whose_name_is_not_known_yet_is_tried_again():
    with pytest.raises(OSError, match="not known"):
        facing("tls://nobody.invalid:8786")
    assert facing("tls://localhost:8786") in ("127.0.0.1", "::1")


def openssl(folder, *words):
    command = ["openssl", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=HANG_S)


def authority(folder):
    """Its certificate, and one that it has signed for all sides, as the guide makes them."""
    folder.mkdir()
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl(folder, "req", "-x509", *key, "-days", "30", "-subj", "/CN=eyelevel run",
            "-keyout", "ca.key", "-out", "ca.pem")  # fmt: skip
    openssl(folder, "req", *key, "-subj", "/CN=eyelevel", "-keyout", "run.key", "-out", "run.csr")
    openssl(folder, "x509", "-req", "-in", "run.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "30", "-out", "run.pem")  # fmt: skip
    return folder


@pytest.fixture
def certified(tmp_path, monkeypatch):
    """Dask's settings of this process, and of those that it starts."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not here")
    folder = authority(tmp_path / "tls")
    given = {"ca-file": folder / "ca.pem"}
    for role in ("client", "scheduler", "worker"):
        given |= {f"{role}.cert": folder / "run.pem", f"{role}.key": folder / "run.key"}
    for name, file in given.items():
        words = name.upper().replace("-", "_").replace(".", "__")
        monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__TLS__{words}", str(file))
    with dask.config.set(
        {f"distributed.comm.tls.{name}": str(file) for name, file in given.items()}
    ):
        yield folder


def test_a_run_whose_sides_have_certificates_comes_to_its_end(tmp_path, certified):
    cluster = MadeUpCluster(tmp_path / "study", {})
    result = cluster.to_its_end("one", "two")
    assert cluster.address.startswith("tls://127.0.0.1:")
    assert (result.done, result.total) == (18, 18)


def test_who_has_no_certificate_of_the_authority_is_not_heard(tmp_path, certified):
    strangers = authority(tmp_path / "strangers")
    place = Where.of("listen:127.0.0.1:0")
    with connected(place, tmp_path) as connection:
        port = int(connection.address.rpartition(":")[2])
        for certificate in (None, strangers / "run.pem"):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            if certificate:
                context.load_cert_chain(certificate, certificate.with_suffix(".key"))
            assert not is_heard(context, port)
        context.load_cert_chain(certified / "run.pem", certified / "run.key")
        assert is_heard(context, port)


def is_heard(context, port):
    """Whether a scheduler says its first words, which it does once it knows who is there."""
    with socket.create_connection(("127.0.0.1", port), timeout=HANG_S) as plain:
        try:
            with context.wrap_socket(plain) as wrapped:
                return bool(wrapped.recv(1))
        except (ssl.SSLError, ConnectionError):
            return False
