"""Read and check Dask's TLS settings before anything is written or connected to.

Dask itself reads them when it connects, and raises errors that do not name the file.
"""

import ssl
from collections.abc import Iterator
from typing import Literal

import dask
from distributed.security import Security

from eyelevel.cluster.connection import ClusterError

Role = Literal["client", "scheduler", "worker"]

PREFIX = "distributed.comm.tls"
GUIDE = "(docs/guides/many-machines.md)"
ROUNDS_MAX = 20
"""Maximum round trips of a handshake between two ends in memory; it takes two or three."""


def lacking(*roles: Role) -> list[str]:
    """Return the missing settings that these roles need."""
    needed = [f"{PREFIX}.ca-file", *(f"{PREFIX}.{role}.cert" for role in roles)]
    return [setting for setting in needed if not dask.config.get(setting, None)]


def is_begun(*roles: Role) -> bool:
    """Return whether any setting of these roles is present."""
    own = [f"{PREFIX}.{role}.{part}" for role in roles for part in ("cert", "key")]
    return any(dask.config.get(setting, None) for setting in own)


def read_security(*roles: Role) -> Security:
    """Return the TLS settings for these roles.

    Raises `ClusterError`, which names file and setting, if a file is missing or malformed, or if a
    process with the same settings would refuse a certificate.
    """
    if absent := lacking(*roles):
        raise ClusterError(
            f"reading Dask's TLS settings: {' and '.join(absent)} "
            f"{'is' if len(absent) == 1 else 'are'} not set; give the path of a PEM file {GUIDE}"
        )
    authority = f"{PREFIX}.ca-file"
    _check_certificates(authority)
    for role in roles:
        _check_pair(role)
    try:
        security = Security(require_encryption=True)
    except (TypeError, ValueError) as error:  # a TLS version; the error names the setting
        raise ClusterError(f"reading Dask's TLS settings: {error}; correct it {GUIDE}") from error
    try:
        for role in roles:
            security.get_connection_args(role)
    except (OSError, TypeError, ValueError) as error:
        ciphers = dask.config.get(f"{PREFIX}.ciphers")
        raise ClusterError(
            f"reading Dask's TLS settings: {PREFIX}.ciphers={ciphers!r} names no cipher that "
            f"OpenSSL has here; correct it {GUIDE}"
        ) from error
    for role in roles:
        for server, client in _meetings(security, role):
            if reason := _refusal(server, client):
                certificate = f"{PREFIX}.{role}.cert"
                raise ClusterError(
                    f"reading {_value(certificate)}, {certificate}: the authority in "
                    f"{_value(authority)}, {authority}, does not vouch for it ({reason}); give "
                    f"one that it signed {GUIDE}"
                )
    return security


def without_tls() -> Security:
    """Return the settings of a cleartext connection; no file is read."""
    return Security(
        require_encryption=False, tls_ca_file=None, tls_min_version=None, tls_max_version=None
    )


def _value(setting: str) -> str:
    return str(dask.config.get(setting))


def _is_text(value: str) -> bool:
    """Return whether a value is PEM text, which Dask accepts instead of a path."""
    return "\n" in value


def _check_certificates(setting: str) -> None:
    value = _value(setting)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if _is_text(value):
            context.load_verify_locations(cadata=value)
        else:
            _open(value)
            context.load_verify_locations(cafile=value)
    except ssl.SSLError as error:
        raise _bad(setting, "it holds no certificate in PEM") from error
    except OSError as error:
        raise _bad(setting, _reason(error)) from error


def _check_pair(role: Role) -> None:
    certificate, key = f"{PREFIX}.{role}.cert", f"{PREFIX}.{role}.key"
    _check_certificates(certificate)
    value = dask.config.get(key, None)
    # As in Dask: without a setting for the key, the certificate's file contains it.
    setting = key if value else certificate
    if _is_text(_value(setting)) or _is_text(_value(certificate)):
        return  # Dask reads inline PEM from temporary files, which have other names
    try:
        _open(_value(setting))
    except OSError as error:
        raise _bad(setting, _reason(error)) from error
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_cert_chain(_value(certificate), value or None, password=_refuse_password)
    except _EncryptedKeyError as error:
        raise _bad(setting, "the key is encrypted, and nobody is there to type its password") from (
            error
        )
    except ssl.SSLError as error:
        if error.reason and "MISMATCH" in error.reason:
            why = f"the key is not that of {_value(certificate)}, {certificate}"
        else:
            why = "it holds no private key in PEM"
        raise _bad(setting, why) from error


class _EncryptedKeyError(Exception):
    """A private key needs a password, for which OpenSSL would prompt."""


def _refuse_password() -> str:
    raise _EncryptedKeyError


def _open(path: str) -> None:
    """Raise `OSError` with the reason, which OpenSSL's own errors may lack."""
    with open(path, "rb") as stream:  # noqa: PTH123 (as the setting has it)
        stream.read(1)


def _reason(error: OSError) -> str:
    reason = error.strerror or str(error)
    return reason[0].lower() + reason[1:]


def _bad(setting: str, reason: str) -> ClusterError:
    return ClusterError(
        f"reading {_describe(setting)}, {setting}: {reason}; "
        f"correct the file or the setting {GUIDE}"
    )


def _describe(setting: str) -> str:
    value = _value(setting)
    return "the text of Dask's settings" if _is_text(value) else value


def _meetings(security: Security, role: Role) -> Iterator[tuple[ssl.SSLContext, ssl.SSLContext]]:
    """Yield (server, client) TLS contexts that verify the role's certificate as it is used."""

    def contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
        server = security.get_listen_args(role)["ssl_context"]
        client = security.get_connection_args(role)["ssl_context"]
        return server, client

    server, client = contexts()
    client.verify_mode = ssl.CERT_NONE
    yield server, client
    if role != "client":  # which listens nowhere
        server, client = contexts()
        server.verify_mode = ssl.CERT_NONE
        yield server, client


def _refusal(server: ssl.SSLContext, client: ssl.SSLContext) -> str:
    """Return why two ends would not connect, as OpenSSL's text; "" if they would."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(ROUNDS_MAX):
        for end in list(ends):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLCertVerificationError as error:
                return error.verify_message
            except ssl.SSLError as error:
                return error.reason or str(error)
            ends.remove(end)
        if not ends:
            return ""
    return "the handshake does not end"
