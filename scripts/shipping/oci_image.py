"""Writes a container image: one layer and its settings, as OCI's archive that docker loads, too.

    python3 -m scripts.shipping.oci_image ROOT.tar OUT.tar --time SECONDS --version TEXT

The same input gives the same bytes: nothing in it comes from a clock, and entries are in order.
Formats: OCI image-spec 1.1 (layout, manifest, configuration), and docker's `manifest.json`.
"""

import hashlib
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from scripts.arguments import parser_of

NAME = "eyelevel"
SIZE_MAX_BYTES = 700_000_000
"""The largest image, which is downloaded once per machine, perhaps over a home's line."""
COMPRESSION = ("zstd", "-9", "-T2", "--quiet", "--stdout")
"""A fifth less than gzip; higher levels take ten minutes for 4 %. Two threads whatever the machine
has, for the same bytes."""

SETTINGS: dict[str, Any] = {
    "User": "1000:1000",
    "Env": [
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME=/home/eyelevel",
        "LANG=C.UTF-8",
    ],
    "Entrypoint": ["eyelevel"],
    "WorkingDir": "/results",
}


class Blob(NamedTuple):
    """A part of an image, named by the hash of its content."""

    digest: str
    size: int

    def described(self, kind: str) -> dict[str, Any]:
        """Return the descriptor by which another blob refers to it."""
        return {
            "mediaType": f"application/vnd.oci.image.{kind}",
            "digest": self.digest,
            "size": self.size,
        }

    @property
    def path(self) -> str:
        """Return its path in a layout."""
        return "blobs/" + self.digest.replace(":", "/")


def write_image(root: Path, out: Path, time: int, version: str) -> str:
    """An archive of the image whose files `root` (tar) has; the digest of its manifest.

    Raises OSError, and CalledProcessError if zstd fails.
    """
    with tempfile.TemporaryFile() as layer_file:
        layer, files_digest = _compress(root, layer_file)
        config = _json(_config(files_digest, time, version))
        manifest = _json(_manifest(_blob_of(config), layer))
        described = _blob_of(manifest).described("manifest.v1+json")
        tag = f"{NAME}:{version}"
        described["annotations"] = {
            "org.opencontainers.image.ref.name": version,
            "io.containerd.image.name": f"docker.io/library/{tag}",
        }
        texts = {
            "oci-layout": _json({"imageLayoutVersion": "1.0.0"}),
            "index.json": _json({"schemaVersion": 2, "manifests": [described]}),
            "manifest.json": _json(
                [{"Config": _blob_of(config).path, "RepoTags": [tag], "Layers": [layer.path]}]
            ),
            _blob_of(config).path: config,
            _blob_of(manifest).path: manifest,
        }
        layer_file.seek(0)
        with tarfile.open(out, "w", format=tarfile.USTAR_FORMAT) as archive:
            for name in sorted([*texts, layer.path]):
                entry = tarfile.TarInfo(name)
                entry.size = layer.size if name == layer.path else len(texts[name])
                content = layer_file if name == layer.path else io.BytesIO(texts[name])
                archive.addfile(entry, content)
    return _blob_of(manifest).digest


def _config(files_digest: str, time: int, version: str) -> dict[str, Any]:
    created = datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    labels = {
        "org.opencontainers.image.title": NAME,
        "org.opencontainers.image.version": version,
    }
    return {
        "architecture": "amd64",
        "os": "linux",
        "created": created,
        "config": {**SETTINGS, "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [files_digest]},
        "history": [{"created": created, "created_by": "scripts/image"}],
    }


def _manifest(config: Blob, layer: Blob) -> dict[str, Any]:
    return {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config.described("config.v1+json"),
        "layers": [layer.described("layer.v1.tar+zstd")],
    }


def _compress(root: Path, out: io.BufferedRandom) -> tuple[Blob, str]:
    """The compressed layer, and the digest of what it is uncompressed."""
    subprocess.run([*COMPRESSION, str(root)], stdout=out, check=True)
    size = out.seek(0, io.SEEK_END)
    out.seek(0)
    with root.open("rb") as whole:
        return Blob(_digest(out), size), _digest(whole)


def _digest(file: io.BufferedReader | io.BufferedRandom) -> str:
    return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def _blob_of(content: bytes) -> Blob:
    return Blob(f"sha256:{hashlib.sha256(content).hexdigest()}", len(content))


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def main() -> None:
    """The command."""
    parser = parser_of(__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--time", type=int, required=True)
    parser.add_argument("--version", required=True)
    given = parser.parse_args()
    digest = write_image(given.root, given.out, given.time, given.version)
    size = given.out.stat().st_size
    print(f"{given.out}: {size / 1e6:.0f} MB, {NAME}:{given.version}, {digest}")
    if size > SIZE_MAX_BYTES:
        sys.exit(f"{given.out} has more than {SIZE_MAX_BYTES / 1e6:.0f} MB: leave something out")


if __name__ == "__main__":
    main()
