"""Fetches pinned npm packages and refuses any other content than the pinned one."""

import base64
import hashlib
import io
import json
import subprocess
import tarfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

PACKAGE_BYTES_MAX = 200 << 20  # unpacked; the largest of the packages has 21 MB


@dataclass(frozen=True)
class Package:
    """One unpacked npm package."""

    name: str
    version: str
    licence: str
    licence_file: str
    notices: tuple[str, ...]
    """Files with the licences of what the package holds of others."""
    repository: str
    files: dict[str, bytes]

    def read(self, path: str) -> bytes:
        """The content of one file; its path as in the package."""
        if path not in self.files:
            raise SystemExit(f"{self.name}@{self.version} has no file {path}")
        return self.files[path]


class Packages:
    """The packages of `packages.toml`, fetched into `cache` when they are first asked for."""

    def __init__(self, table: Path, cache: Path) -> None:
        self._table = tomllib.loads(table.read_text())
        self._cache = cache
        self._open: dict[str, Package] = {}

    def get(self, name: str) -> Package:
        """The package `name` of the pinned version."""
        if name not in self._open:
            pinned = self._table[name]
            tarball = self._fetch(name, pinned["version"])
            _verify(f"{name}@{pinned['version']}", tarball, pinned["integrity"])
            files = _unpack(tarball)
            about = json.loads(files["package.json"]).get("repository", {})
            repository = about if isinstance(about, str) else about.get("url", "")
            self._open[name] = Package(
                name,
                pinned["version"],
                pinned["licence"],
                pinned["licence_file"],
                tuple(pinned.get("notices", [])),
                repository.removeprefix("git+").removesuffix(".git"),
                files,
            )
        return self._open[name]

    def _fetch(self, name: str, version: str) -> bytes:
        file = self._cache / f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz"
        if not file.exists():
            self._cache.mkdir(parents=True, exist_ok=True)
            subprocess.run(
                ["npm", "pack", "--silent", f"{name}@{version}"],
                cwd=self._cache,
                check=True,
                stdout=subprocess.DEVNULL,
                timeout=300,
            )
        return file.read_bytes()


def _verify(subject: str, content: bytes, integrity: str) -> None:
    digest = base64.b64encode(hashlib.sha512(content).digest()).decode()
    if integrity != f"sha512-{digest}":
        raise SystemExit(f"{subject} has the digest sha512-{digest}, pinned is {integrity}")


def _unpack(tarball: bytes) -> dict[str, bytes]:
    """The package's files by their path below its one folder."""
    files: dict[str, bytes] = {}
    left = PACKAGE_BYTES_MAX
    with tarfile.open(fileobj=io.BytesIO(tarball), mode="r:gz") as archive:
        for member in archive:
            left -= member.size
            if left < 0:
                raise SystemExit(f"a package unpacks to more than {PACKAGE_BYTES_MAX} bytes")
            opened = archive.extractfile(member) if member.isfile() else None
            if opened is not None:
                files[member.name.partition("/")[2]] = opened.read()
    return files
