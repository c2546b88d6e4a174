"""Dask's TLS settings are read whole, and what is wrong is one line with file and setting."""

import re
import shutil

import dask
import pytest
from tls_files import TLS, openssl, self_signed, settings_of, signed

from eyelevel.cluster.connection import ClusterError
from eyelevel.cluster.scheduler import SchedulerChoice
from eyelevel.cluster.tls_settings import read_security

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not here")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An authority, certificates that it signed, and what is none of that."""
    folder = tmp_path_factory.mktemp("tls")
    for name in ("ca", "other"):
        self_signed(folder, name)
    signed(folder, "run")
    signed(folder, "past", days=-1)
    (folder / "client.ext").write_text("extendedKeyUsage=clientAuth\n")
    signed(folder, "visitor", "-extfile", "client.ext")
    openssl(folder, "pkey", "-in", "run.key", "-aes256", "-passout", "pass:x", "-out", "locked.key")
    both = (folder / "run.pem").read_bytes() + (folder / "run.key").read_bytes()
    (folder / "both.pem").write_bytes(both)
    (folder / "text").write_text("no PEM\n")
    (folder / "empty").touch()
    return folder


def settings(folder, **changed):
    """Dask's, with other files of the folder or none; `client_key` is `client.key`."""
    given = settings_of(folder)
    for name, file in changed.items():
        name = "ca-file" if name == "ca_file" else name.replace("_", ".")
        given[f"{TLS}.{name}"] = file and str(folder / file)
    return dask.config.set(given)


@pytest.mark.parametrize(
    ("changed", "setting", "said"),
    [
        ({"ca_file": "absent"}, "ca-file", "no such file or directory"),
        ({"ca_file": "text"}, "ca-file", "it holds no certificate in PEM"),
        ({"ca_file": "empty"}, "ca-file", "it holds no certificate in PEM"),
        ({"ca_file": "."}, "ca-file", "is a directory"),
        ({"client_cert": "absent"}, "client.cert", "no such file or directory"),
        ({"client_cert": "run.key"}, "client.cert", "it holds no certificate in PEM"),
        ({"scheduler_cert": "text"}, "scheduler.cert", "it holds no certificate in PEM"),
        ({"scheduler_key": "absent"}, "scheduler.key", "no such file or directory"),
        ({"scheduler_key": "text"}, "scheduler.key", "it holds no private key in PEM"),
        ({"client_key": "run.pem"}, "client.key", "it holds no private key in PEM"),
        ({"client_key": "locked.key"}, "client.key", "the key is encrypted, and nobody is there"),
        ({"client_key": "ca.key"}, "client.key", r"the key is not that of \S*/run.pem, .*cert"),
        ({"client_key": None}, "client.cert", "it holds no private key in PEM"),
    ],
)  # fmt: skip
def test_a_missing_or_bad_file_is_one_line_with_file_and_setting(folder, changed, setting, said):
    (file,) = changed.values()
    file = folder / (file or "run.pem")
    with settings(folder, **changed), pytest.raises(ClusterError) as caught:
        SchedulerChoice.of("listen:10.0.0.7:8786")
    assert "\n" not in str(caught.value)
    assert re.match(f"reading {re.escape(str(file))}, {TLS}.{setting}: {said}", str(caught.value))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"ca_file": "other.pem"}, "unable to get local issuer certificate|invalid CA certificate"),
        ({"client_cert": "past.pem", "client_key": "past.key"}, "certificate has expired"),
        ({"client_cert": "other.pem", "client_key": "other.key"}, "self-signed certificate"),
        (
            {"scheduler_cert": "visitor.pem", "scheduler_key": "visitor.key"},
            "unsuitable cert",
        ),
    ],
)
def test_a_certificate_that_others_would_refuse_is_named(folder, changed, said):
    with settings(folder, **changed), pytest.raises(ClusterError) as caught:
        SchedulerChoice.of("listen:10.0.0.7:8786")
    role = next(iter(changed)).partition("_")[0].replace("ca", "scheduler")
    assert f"{TLS}.{role}.cert: the authority in {folder}/" in str(caught.value)
    assert re.search(f"does not vouch for it \\(({said})", str(caught.value))
    assert "\n" not in str(caught.value)


def test_settings_that_are_right_are_taken(folder):
    with settings(folder):
        assert SchedulerChoice.of("listen:10.0.0.7:8786").protection == "settings"
        assert read_security("client", "scheduler", "worker").require_encryption
    with settings(folder, client_cert="both.pem", client_key=None):
        assert (
            SchedulerChoice.of("tls://10.0.0.7:8786").security.tls_client_cert
            == f"{folder}/both.pem"
        )
    # A client's certificate need not be one for servers.
    with settings(folder, client_cert="visitor.pem", client_key="visitor.key"):
        read_security("client", "scheduler")


def test_settings_that_are_not_files_are_named_too(folder):
    for name, value, said in (
        ("min-version", 1.1, "=1.1 is not supported"),
        ("ciphers", "none", "='none' names no cipher that OpenSSL has"),
    ):
        changed = {f"{TLS}.{name}": value}
        refused = pytest.raises(ClusterError, match=rf"{TLS}.{name}{said}")
        with settings(folder), dask.config.set(changed), refused:
            SchedulerChoice.of("tls://10.0.0.7:8786")
    with settings(folder, ca_file=None), pytest.raises(ClusterError) as caught:
        SchedulerChoice.of("tls://10.0.0.7:8786")
    assert f"{TLS}.ca-file is not set; give the path of a PEM file" in str(caught.value)


def test_settings_of_tls_take_no_part_where_there_is_none_or_the_runs_own(folder):
    with settings(folder, ca_file="absent"), dask.config.set({f"{TLS}.min-version": 1.1}):
        assert SchedulerChoice.of("local:1").protection == "own"
        assert SchedulerChoice.of("tcp://10.0.0.7:1", is_trusted=True).security.tls_ca_file is None


def test_encryption_that_is_required_is_not_left_out(folder):
    with dask.config.set({"distributed.comm.require-encryption": True}):
        for text in ("listen:10.0.0.7:0", "tcp://10.0.0.7:1"):
            with pytest.raises(ClusterError, match="require-encryption forbids it"):
                SchedulerChoice.of(text, is_trusted=True)
        assert SchedulerChoice.of("listen:127.0.0.1:0").protection == "own"
