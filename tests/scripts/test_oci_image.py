"""The writer of container images: the same bytes from the same files, and what engines look for."""

import hashlib
import io
import json
import shutil
import subprocess
import tarfile

import pytest

from scripts.shipping.oci_image import SETTINGS, write_image

TIME = 1_700_000_000


pytestmark = pytest.mark.skipif(shutil.which("zstd") is None, reason="zstd is absent")


@pytest.fixture
def root() -> bytes:
    """A root with one file."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        entry = tarfile.TarInfo("etc/hostname")
        entry.size = 4
        archive.addfile(entry, io.BytesIO(b"lab\n"))
    return written.getvalue()


def _written(root, out, version="1.2.3"):
    files = out.with_suffix(".root")
    files.write_bytes(root)
    digest = write_image(files, out, TIME, version)
    with tarfile.open(out) as archive:
        return digest, {
            entry.name: archive.extractfile(entry).read() for entry in archive.getmembers()
        }


def test_the_same_files_are_the_same_image(root, tmp_path):
    first, _ = _written(root, tmp_path / "a")
    again, _ = _written(root, tmp_path / "b")
    assert first == again
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    other, _ = _written(root.replace(b"lab\n", b"LAB\n"), tmp_path / "c")
    assert other != first


def test_every_blob_is_named_by_its_hash_and_refers_to_the_next(root, tmp_path):
    digest, files = _written(root, tmp_path / "a")
    assert list(files) == sorted(files)
    blobs = {name: content for name, content in files.items() if name.startswith("blobs/sha256/")}
    for name, content in blobs.items():
        assert name == f"blobs/sha256/{hashlib.sha256(content).hexdigest()}"

    def blob(described):
        content = blobs["blobs/" + described["digest"].replace(":", "/")]
        assert len(content) == described["size"]
        return content

    (described,) = json.loads(files["index.json"])["manifests"]
    assert described["digest"] == digest
    manifest = json.loads(blob(described))
    config = json.loads(blob(manifest["config"]))
    (layer,) = manifest["layers"]
    unpacked = subprocess.run(
        ["zstd", "-dc"], input=blob(layer), capture_output=True, check=True
    ).stdout
    assert unpacked == root
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(root).hexdigest()}"]
    assert config["created"] == "2023-11-14T22:13:20Z"


def test_docker_finds_the_same_blobs_and_a_name(root, tmp_path):
    _, files = _written(root, tmp_path / "a")
    (image,) = json.loads(files["manifest.json"])
    assert image["RepoTags"] == ["eyelevel:1.2.3"]
    assert {image["Config"], *image["Layers"]} <= set(files)


def test_who_runs_it_is_an_ordinary_user(root, tmp_path):
    _, files = _written(root, tmp_path / "a")
    (image,) = json.loads(files["manifest.json"])
    config = json.loads(files[image["Config"]])["config"]
    assert config["User"] == SETTINGS["User"] and not config["User"].startswith("0")
    assert config["Entrypoint"] == ["eyelevel"]
