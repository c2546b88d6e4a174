"""Ports that others reach take certificates, or are opened because the user says so."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
from functools import partial
from threading import Thread, Timer

import dask
import psutil
import pytest
from synthetic_cluster import SyntheticCluster
from timeouts import TEST_TIMEOUT_S
from tls_files import authority, environment_of, settings_of

from eyelevel.cluster import trust
from eyelevel.cluster.connection import ClusterError, check_reachable
from eyelevel.cluster.scheduler import SCHEDULER_FILE, SchedulerChoice, connect
from eyelevel.cluster.tls_settings import without_tls
from eyelevel.cluster.trust import Credentials, check_handshake, facing, read_trust

FIRST = "startup/dsl/1"
BOTH = r"TLS settings \(docs/guides/many-machines.md\), or --trust-network"


@pytest.mark.parametrize("text", ["listen:127.0.0.1:0", "listen:[::1]:0", "listen:localhost:0"])
def test_on_loopback_a_run_has_credentials_of_its_own_unless_the_machine_is_trusted(text):
    assert SchedulerChoice.of(text).protection == SchedulerChoice.of("local:2").protection == "own"
    assert SchedulerChoice.of(text, is_trusted=True).protection == "none"


@pytest.mark.parametrize(
    "text",
    ["listen:0.0.0.0:0", "listen:[::]:0", "listen:10.0.0.7:8786", "listen:here.example:8786",
     "tcp://10.0.0.7:8786", "tcp://[2001:db8::1]:8786", "tcp://here.example:8786",
     "tcp://127.0.0.1.example:8786", "tcp://127.0.0.1:8786", "tcp://[::1]:8786"],
)  # fmt: skip
def test_what_others_reach_is_refused_with_both_remedies_unless_it_is_trusted(text):
    with pytest.raises(ClusterError, match=BOTH) as caught:
        SchedulerChoice.of(text)
    assert "\n" not in str(caught.value)
    assert not SchedulerChoice.of(text, is_trusted=True).security.require_encryption
    if "://" in text:
        with pytest.raises(ClusterError, match=BOTH):
            read_trust(text, "worker", is_trusted=False)


def test_an_address_with_tls_needs_the_settings_of_its_side():
    needed = r"tls\.ca-file and distributed\.comm\.tls\.worker\.cert are not set"
    with pytest.raises(ClusterError, match=needed):
        read_trust("tls://10.0.0.7:8786", "worker", is_trusted=True)
    with pytest.raises(ClusterError, match=r"give its DIR/scheduler\.json, or Dask's TLS settings"):
        read_trust("tls://127.0.0.1:8786", "worker", is_trusted=True)
    with dask.config.set({"distributed.comm.tls": {"ca-file": "a", "client": {"cert": "b"}}}):
        with pytest.raises(ClusterError, match=r"worker\.cert is not set"):
            read_trust("tls://10.0.0.7:8786", "worker", is_trusted=False)
        with pytest.raises(ClusterError, match=rf"{BOTH}.*\(not set: .*scheduler\.cert\)"):
            SchedulerChoice.of("listen:0.0.0.0:0")


def test_a_runs_own_credentials_count_on_loopback_alone():
    own = Credentials.new()
    read_own = partial(read_trust, role="worker", is_trusted=True, credentials=own)
    assert read_own("tls://127.0.0.1:8786").tls_ca_file == own.certificate
    with pytest.raises(ClusterError, match=r"worker\.cert are not set"):
        read_own("tls://10.0.0.7:8786")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_slots_listen_where_their_scheduler_is_and_nowhere_else(tmp_path, host):
    cluster = SyntheticCluster(tmp_path, {FIRST: ["waits"]})
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


@pytest.fixture
def certified(tmp_path, monkeypatch):
    """Dask's settings of this process, and of those that it starts."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not here")
    folder = authority(tmp_path / "tls")
    for name, file in environment_of(folder).items():
        monkeypatch.setenv(name, file)
    with dask.config.set(settings_of(folder)):
        yield folder


def test_a_run_whose_sides_have_certificates_comes_to_its_end(tmp_path, certified):
    cluster = SyntheticCluster(tmp_path / "study", {})
    result = cluster.to_its_end("one", "two")
    assert cluster.address.startswith("tls://127.0.0.1:")
    assert (result.done, result.total) == (18, 18)


def test_who_has_no_certificate_of_the_authority_is_not_heard(tmp_path, certified):
    strangers = authority(tmp_path / "strangers")
    place = SchedulerChoice.of("listen:127.0.0.1:0")
    with connect(place, tmp_path) as connection:
        port = int(connection.address.rpartition(":")[2])
        for certificate in (None, strangers / "run.pem"):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            if certificate:
                context.load_cert_chain(certificate, certificate.with_suffix(".key"))
            assert not is_heard(context, port)
        context.load_cert_chain(certified / "run.pem", certified / "run.key")
        assert is_heard(context, port)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, None),
        ({"ca-file": "ca.pem"}, "its certificate is refused here \\(self-signed certificate"),
        (
            {"client.cert": "run.pem", "client.key": "run.key"},
            "it refuses the certificate of this machine \\(tlsv1 alert unknown ca\\)",
        ),
    ],
)
def test_who_and_its_scheduler_refuse_each_other_is_told_before_anything_is_written(
    tmp_path, certified, changed, said
):
    strangers = authority(tmp_path / "strangers")
    with connect(SchedulerChoice.of("listen:127.0.0.1:0"), tmp_path) as connection:
        security = read_trust(connection.address, "client", is_trusted=False)
        for name, file in changed.items():
            setattr(security, "tls_" + re.sub(r"[.-]", "_", name), str(strangers / file))
        met = partial(check_handshake, connection.address, security=security)
        if said is None:
            check_reachable(connection.address, met)
            return
        with pytest.raises(ClusterError, match=f"{said}.*certificates of one authority") as caught:
            check_reachable(connection.address, met)
        assert "\n" not in str(caught.value)


def test_a_scheduler_with_tls_is_told_apart_from_one_that_is_slow(tmp_path, certified, monkeypatch):
    monkeypatch.setattr(trust, "GREETING_S", 0.1)
    with connect(SchedulerChoice.of("listen:127.0.0.1:0"), tmp_path) as connection:
        address = connection.address.replace("tls://", "tcp://")
        met = partial(check_handshake, address, security=without_tls())
        with pytest.raises(ClusterError, match=f"it has TLS; write {connection.address}, and give"):
            check_reachable(address, met)
    monkeypatch.setattr(trust, "CONNECT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        met = partial(check_handshake, address, security=without_tls())
        with pytest.raises(ClusterError, match="nobody answered within"):
            check_reachable(address, met)


@pytest.mark.parametrize(
    ("changed", "speaks", "said"),
    [
        (("CA_FILE", "WORKER__CERT", "WORKER__KEY"), "tls", "its certificate is refused here"),
        (("WORKER__CERT", "WORKER__KEY"), "tls", "it refuses the certificate of this machine"),
        ((), "tcp", "it does not speak TLS as we do"),
        ((), "tls", "it has TLS; write tls://"),
    ],
)
def test_a_worker_that_its_scheduler_will_never_hear_ends(
    tmp_path, certified, changed, speaks, said
):
    strangers = authority(tmp_path / "strangers")
    environment, others = environment_of(certified), environment_of(strangers)
    environment |= {name: others[name] for name in others if name.endswith(changed)}
    if changed and "CA_FILE" not in changed:  # its own certificate is right in its own eyes
        both = (certified / "ca.pem").read_bytes() + (strangers / "ca.pem").read_bytes()
        (tmp_path / "both.pem").write_bytes(both)
        environment["DASK_DISTRIBUTED__COMM__TLS__CA_FILE"] = str(tmp_path / "both.pem")
    without = speaks == "tcp"
    with dask.config.set(dict.fromkeys(settings_of(certified)) if without else {}):
        place = SchedulerChoice.of("listen:127.0.0.1:0", is_trusted=without)
    with connect(place, tmp_path) as connection:
        written = "tcp" if "write tls" in said else "tls"
        done = subprocess.run(
            [sys.executable, "-c", WORKER, f"{written}{connection.address[3:]}"],
            env={
                **os.environ,
                **environment,
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
            capture_output=True,
            text=True,
            timeout=TEST_TIMEOUT_S,
        )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ENDED connecting to the scheduler at {written}://") and said in last


def test_a_worker_of_a_runs_file_prints_why_it_is_not_heard_and_tries_again(tmp_path, certified):
    strangers = authority(tmp_path / "strangers")
    with (
        connect(SchedulerChoice.of("listen:127.0.0.1:0"), tmp_path),
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(tmp_path / SCHEDULER_FILE)],
            env={
                **os.environ,
                **environment_of(strangers),
                "PYTHONPATH": os.pathsep.join(sys.path),
                "PYTHONUNBUFFERED": "1",
            },
            stdout=subprocess.PIPE,
            text=True,
        ) as worker,
    ):
        overdue = Timer(TEST_TIMEOUT_S, worker.kill)
        overdue.start()
        try:
            line = worker.stdout.readline()
        finally:
            overdue.cancel()
            worker.terminate()
    assert "its certificate is refused here" in line and line.endswith("; trying again\n")


WORKER = """
import asyncio, sys
from eyelevel.cluster.connection import ClusterError
from eyelevel.cluster.worker import run_slots
if __name__ == "__main__":
    try:
        asyncio.run(run_slots(sys.argv[1], 2, host="one", is_trusted=True, report=print))
    except ClusterError as error:
        sys.exit(f"ENDED {error}")
"""


def is_heard(context, port):
    """Whether a scheduler says its first words, which it does once it knows who is there."""
    with socket.create_connection(("127.0.0.1", port), timeout=TEST_TIMEOUT_S) as plain:
        try:
            with context.wrap_socket(plain) as wrapped:
                return bool(wrapped.recv(1))
        except (ssl.SSLError, ConnectionError):
            return False
