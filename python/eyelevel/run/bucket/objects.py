"""Operations on a bucket: create, replace and get objects, and list names."""

import os
from collections.abc import Iterator
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from eyelevel.base.errors import ExpectedError
from eyelevel.base.from_outside.words import excerpt

if TYPE_CHECKING:
    from obstore import PutMode
    from obstore.store import ObjectStore

SCHEMES = ("s3", "gs", "az", "abfs", "abfss", "file")
CONNECT = "5s"
REQUEST = "120s"
"""Time limit of one request: a block with connection logs has several hundred megabytes."""
ALLOW_HTTP = ("AWS_ALLOW_HTTP", "AZURE_ALLOW_HTTP", "GOOGLE_ALLOW_HTTP")
"""Environment variables that allow http; obstore ignores them when it is given options."""
PROBED = "plan.json"
RETRIES = 2
RETRY_S_MAX = 10.0
"""Time limit of obstore's retries, s: a failed upload is retried between later blocks, not
during a load.
"""


class BucketError(ExpectedError):
    """A bucket is unusable or does not answer; the message is one line with a remedy."""


class ExistsError(Exception):
    """An object is reported to exist. It may not: see arrow-rs-object-store#852."""


class Objects(Protocol):
    """Operations on one bucket. All raise `BucketError` if it does not answer."""

    def create(self, name: str, content: bytes) -> None:
        """Upload a new object; raises `ExistsError`."""

    def replace(self, name: str, content: bytes) -> None:
        """Upload an object, replacing an existing one."""

    def get(self, name: str, bytes_max: int) -> bytes | None:
        """Return an object, at most `bytes_max` + 1 bytes of it; None if there is none."""

    def names(self, folder: str) -> Iterator[str]:
        """Yield the names of the objects in a folder, relative to it."""


def check_url(url: str) -> None:
    """Raise `BucketError` for an invalid URL, or for a bucket that does not answer.

    It is called before a run starts, so that no run starts that could not be copied.
    """
    scheme = _scheme(url)
    if scheme != "file":  # a folder is created when it is needed
        open_objects(url, is_new=False).get(PROBED, 0)


def _scheme(url: str) -> str:
    scheme, separator, _ = url.partition("://")
    if not separator or scheme not in SCHEMES:
        raise BucketError(
            f"opening {excerpt(url)}: write it as s3://BUCKET/PATH, gs://BUCKET/PATH, "
            "az://CONTAINER/PATH or file:///PATH"
        )
    if find_spec("obstore") is None:
        raise BucketError(
            f"opening {excerpt(url)}: obstore is not installed; pip install 'eyelevel[bucket]'"
        )
    return scheme


def open_objects(url: str, *, is_new: bool) -> Objects:
    """Open a bucket by URL; `is_new` creates a missing folder (`file://`). Sends no request yet.

    Raises `BucketError` for a URL that names no bucket, and if obstore is not installed.
    """
    scheme, attempt = _scheme(url), f"opening {excerpt(url)}"
    from obstore.exceptions import BaseError
    from obstore.store import LocalStore, from_url

    try:
        if scheme == "file":
            if not is_new and not Path(unquote(urlsplit(url).path)).is_dir():
                raise BucketError(f"{attempt}: there is no such folder; create it, or name another")
            return ObstoreObjects(LocalStore.from_url(url, mkdir=is_new), f"using {excerpt(url)}")
        store = from_url(
            url,
            client_options={
                "connect_timeout": CONNECT,
                "timeout": REQUEST,
                "allow_http": any(os.environ.get(name) == "true" for name in ALLOW_HTTP),
            },
            retry_config={
                "max_retries": RETRIES,
                "retry_timeout": timedelta(seconds=RETRY_S_MAX),
            },
        )
    except (BaseError, ValueError, OSError) as error:
        raise _failure(attempt, error) from error
    return ObstoreObjects(store, f"using {excerpt(url)}")


class ObstoreObjects:
    """Operations on a bucket by obstore."""

    def __init__(self, store: "ObjectStore", attempt: str) -> None:
        self._store, self._attempt = store, attempt

    def create(self, name: str, content: bytes) -> None:
        """Implement `Objects.create`."""
        self._put(name, content, is_new=True)

    def replace(self, name: str, content: bytes) -> None:
        """Implement `Objects.replace`."""
        self._put(name, content, is_new=False)

    def _put(self, name: str, content: bytes, *, is_new: bool) -> None:
        import obstore
        from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError

        mode: PutMode = "create" if is_new else "overwrite"
        try:
            # Upload in one request: a multipart upload cannot be conditional.
            obstore.put(self._store, name, content, mode=mode, use_multipart=False)
        except (AlreadyExistsError, PreconditionError) as error:
            raise ExistsError from error
        except (BaseError, OSError) as error:
            raise _failure(self._attempt, error) from error

    def get(self, name: str, bytes_max: int) -> bytes | None:
        """Implement `Objects.get`."""
        import obstore
        from obstore.exceptions import BaseError

        pieces, left = [], bytes_max + 1
        try:
            for piece in obstore.get(self._store, name).stream():
                pieces.append(bytes(piece[:left]))
                left -= len(pieces[-1])
                if not left:
                    break
        except FileNotFoundError:
            return None
        except (BaseError, OSError) as error:
            raise _failure(self._attempt, error) from error
        return b"".join(pieces)

    def names(self, folder: str) -> Iterator[str]:
        """Implement `Objects.names`."""
        import obstore
        from obstore.exceptions import BaseError

        try:
            for part in obstore.list(self._store, folder):
                for each in part:
                    yield str(each["path"]).removeprefix(f"{folder}/")
        except (BaseError, OSError) as error:
            raise _failure(self._attempt, error) from error


def _failure(attempt: str, error: Exception) -> BucketError:
    """Return an error with the first line of obstore's message; the rest are internals."""
    reason = str(error).partition("\n")[0]
    return BucketError(
        f"{attempt}: {excerpt(reason)}; check the URL, its credentials and the network"
    )
