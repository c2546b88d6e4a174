"""Writes the bill of materials of a wheel beside it: WHEEL with `.cdx.json` for `.whl`.

CycloneDX 1.6: the crates that are compiled into the wheel's binary and the packages that are
installed with it, each with its licence and the digests by which the lock files pin it. The same
sources give the same bytes.
"""

import hashlib
import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.arguments import ROOT, parser_of
from scripts.checks.licences import package_licence, pinned

BINARY = "eyelevel-lab"
"""The crate whose program the wheel carries."""
PLATFORM = "x86_64-unknown-linux-gnu"
"""Whose crates are meant where all machines have to say the same."""


def crates(root: Path, platform: str) -> tuple[list[Any], list[Any]]:
    """The binary's crates as components, and which depends on which."""
    packages, uses = _metadata(root, platform)
    reached = _reached(packages, uses)
    lock = tomllib.loads((root / "Cargo.lock").read_text(encoding="utf-8"))
    digests = {(it["name"], it["version"]): it.get("checksum") for it in lock["package"]}
    components = [
        _crate(packages[each], digests[packages[each]["name"], packages[each]["version"]])
        for each in reached
    ]
    graph = [
        {"ref": _reference("cargo", packages[one]), "dependsOn": [
            _reference("cargo", packages[each]) for each in uses[one]
        ]}
        for one in reached
    ]  # fmt: skip
    return components, graph


def built_into(root: Path, platform: str) -> list[Any]:
    """The crates that the binary is built of there, as cargo describes them."""
    packages, uses = _metadata(root, platform)
    return [packages[each] for each in _reached(packages, uses)]


def packages(root: Path) -> Iterator[Any]:
    """What `requirements.lock` pins for this interpreter, as components."""
    text = (root / "requirements.lock").read_text(encoding="utf-8")
    for name in sorted(pinned(text)):
        metadata = importlib.metadata.metadata(name)
        version = metadata["Version"]
        (entry,) = re.findall(
            rf"^{name}=={re.escape(version)}(.*(?:\n    .*)*)", text, re.MULTILINE
        )
        reference = _reference("pypi", {"name": name, "version": version})
        yield {
            "type": "library",
            "bom-ref": reference,
            "name": name,
            "version": version,
            "purl": reference,
            "licenses": [{"expression": package_licence(metadata)}],
            # One of these files is installed: which, is the machine's.
            "externalReferences": [
                {
                    "type": "distribution",
                    "url": f"https://pypi.org/project/{name}/{version}/#files",
                    "hashes": [_sha256(each) for each in re.findall(r"sha256:(\w{64})", entry)],
                }
            ],
        }


def bill(root: Path, wheel: Path) -> Any:
    """The whole document."""
    name, version = wheel.name.split("-")[:2]
    own = _reference("pypi", {"name": name, "version": version})
    architecture = re.search(r"_(x86_64|aarch64)$", wheel.stem)
    platform = f"{architecture[1]}-unknown-linux-gnu" if architecture else _host()
    compiled, graph = crates(root, platform)
    installed = list(packages(root))
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    first = [compiled[0]["bom-ref"], *(each["bom-ref"] for each in installed)]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{own}#{digest}')}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": name,
                "version": version,
                "purl": own,
                "licenses": [{"expression": "Apache-2.0 OR MIT"}],
                "hashes": [_sha256(digest)],
            }
        },
        "components": [*compiled, *installed],
        "dependencies": [{"ref": own, "dependsOn": first}, *graph]
        + [{"ref": each["bom-ref"]} for each in installed],
    }


def text(document: Any) -> str:
    """The document as it is written into a file."""
    return json.dumps(document, indent=1) + "\n"


def _metadata(root: Path, platform: str) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return all crates, and what each is built with, by cargo's identifiers."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform"]
    answer = subprocess.run(
        [*command, platform], cwd=root, stdout=subprocess.PIPE, text=True, check=True
    )
    metadata = json.loads(answer.stdout)
    packages = {each["id"]: each for each in metadata["packages"]}
    return packages, {
        each["id"]: sorted(_built_with(each)) for each in metadata["resolve"]["nodes"]
    }


def _reached(packages: dict[str, Any], uses: dict[str, list[str]]) -> list[str]:
    reached = [key for key, each in packages.items() if each["name"] == BINARY]
    for one in reached:
        reached += [each for each in uses[one] if each not in reached]
    return reached


def _crate(package: Any, digest: str | None) -> Any:
    reference = _reference("cargo", package)
    component = {
        "type": "library",
        "bom-ref": reference,
        "name": package["name"],
        "version": package["version"],
        "purl": reference,
        # A slash is an old way to write OR.
        "licenses": [{"expression": re.sub(r"\s*/\s*", " OR ", package["license"])}],
    }
    # Our own crates are no files of a registry.
    return component | ({"hashes": [_sha256(digest)]} if digest else {})


def _built_with(node: Any) -> Iterator[str]:
    for each in node["deps"]:
        if any(kind["kind"] != "dev" for kind in each["dep_kinds"]):
            yield each["pkg"]


def _reference(kind: str, package: Any) -> str:
    return f"pkg:{kind}/{package['name']}@{package['version'].replace('+', '%2B')}"


def _sha256(digest: str) -> dict[str, str]:
    return {"alg": "SHA-256", "content": digest}


def _host() -> str:
    version = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    return version.partition("host: ")[2].split("\n")[0]


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("wheel", type=Path)
    asked = parser.parse_args()
    target = asked.wheel.with_suffix(".cdx.json")
    target.write_text(text(bill(ROOT, asked.wheel)), encoding="utf-8")
    print(target)
    sys.exit()
