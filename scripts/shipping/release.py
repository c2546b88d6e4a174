"""Makes everything that is published of a version, in dist/release-VERSION; uploads nothing.

    scripts/release                                  # wheels, sdist, image: half an hour, as root
    scripts/release --without aarch64 --without image
    scripts/release --from FOLDER                    # what is built is in there; nothing is built

Refused is a release with two version numbers, with what is not committed, with a changelog that
says nothing or has no date, a wheel over 45 MB, for a later glibc than its name says or of other
sources, and a source distribution that lacks something. Each wheel gets its bill of materials;
SHA256SUMS names every file; tag.txt is the text of the tag and changes.md the changelog's section.
At the end stand the commands that would publish it.
"""

import hashlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from scripts.arguments import ROOT, parser_of
from scripts.shipping import glibc, oci_image, one_version, portable_wheel, sbom, source_archive

PARTS = ("x86_64", "aarch64", "sdist", "image")
WHEEL_BYTES_MAX = 45_000_000
SUMS = "SHA256SUMS"
KINDS = {
    "x86_64": "*_x86_64.whl",
    "aarch64": "*_aarch64.whl",
    "sdist": "*[0-9].tar.gz",
    "image": "*-image.tar",
}
"""What the file of each part is called, after `eyelevel-`."""


class RefusedError(Exception):
    """Why this cannot be released, with a line for each fault."""


def refuse(wrong: Sequence[str]) -> None:
    """Raise RefusedError if anything is wrong."""
    if wrong:
        raise RefusedError("\n".join(wrong))


def uncommitted(root: Path) -> list[str]:
    """What would be in a build and in no commit."""
    command = ["git", "status", "--porcelain", "--untracked-files=normal"]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    return [f"not committed: {line}" for line in done.stdout.splitlines()]


def built(part: str, folder: Path) -> None:
    """Put one part, made anew, into `folder`. Raises CalledProcessError and CannotBuildError."""
    if part == "sdist":
        source_archive.build(folder, ROOT)
    elif part == "image":
        (wheel,) = folder.glob(f"eyelevel-{KINDS['x86_64']}")
        image = folder / f"eyelevel-{one_version.workspace_version(ROOT)}-image.tar"
        subprocess.run([ROOT / "scripts" / "image", wheel, image], cwd=ROOT, check=True)
    else:
        target = f"{part}-unknown-linux-gnu"
        debian = None if portable_wheel.has_standard_library(target) else "testing"
        wheel = portable_wheel.build(part, folder, debian)
        print(f"{wheel.name}: {portable_wheel.started(wheel, portable_wheel.BUILDS / 'started')}")


def taken(source: Path) -> Callable[[str, Path], None]:
    """Parts from a folder in which they lie, in place of building them."""

    def take(part: str, folder: Path) -> None:
        found = sorted(source.glob(f"eyelevel-{KINDS[part]}"))
        refuse([] if len(found) == 1 else [f"{source} has {len(found)} of {KINDS[part]}, not one"])
        shutil.copy2(found[0], folder)

    return take


def faults(folder: Path, number: str, root: Path) -> list[str]:
    """What is wrong with the parts that lie in `folder`."""
    found = []
    for wheel in sorted(folder.glob("*.whl")):
        found += [f"{wheel.name}: {fault}" for fault in glibc.faults_of_wheel(wheel)]
        found += [f"{wheel.name}: {it}" for it in source_archive.faults_of_package(wheel, root)]
        if wheel.stat().st_size > WHEEL_BYTES_MAX:
            found.append(f"{wheel.name}: it has more than {WHEEL_BYTES_MAX} bytes")
    for archive in sorted(folder.glob(f"eyelevel-{number}.tar.gz")):
        found += [f"{archive.name}: {fault}" for fault in source_archive.faults(archive, root)]
    for file in sorted(folder.iterdir()):
        if not file.name.startswith(f"eyelevel-{number}"):
            found.append(f"{file.name}: it is not of version {number}")
        if file.stat().st_size > oci_image.SIZE_MAX_BYTES:
            found.append(f"{file.name}: it has more than {oci_image.SIZE_MAX_BYTES} bytes")
    return found


def write_beside(folder: Path, number: str, root: Path) -> None:
    """Bills of materials, the changelog's section, the tag's text, and last the sums of all."""
    for wheel in sorted(folder.glob("*.whl")):
        (folder / f"{wheel.stem}.cdx.json").write_text(sbom.text(sbom.bill(root, wheel)))
    said = one_version.changes(root, number)
    (folder / "changes.md").write_text(f"{said}\n", encoding="utf-8")
    (folder / "tag.txt").write_text(tag_text(number, said), encoding="utf-8")
    sums = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(folder.iterdir())
    ]
    (folder / SUMS).write_text("".join(sums), encoding="utf-8")


def tag_text(number: str, changes: str) -> str:
    """The tag's message: git takes lines that begin with # for comments, so there are none."""
    lines = [line for line in changes.splitlines() if not line.startswith("#")]
    return "\n".join((f"eyelevel {number}", "", *lines, ""))


def publishing(folder: Path, number: str) -> list[str]:
    """The commands that would publish what lies in `folder`."""
    signed = f"git tag --sign --cleanup=verbatim --file {folder}/tag.txt v{number}"
    packages = f"twine upload {folder}/*.whl {folder}/eyelevel-{number}.tar.gz"
    notes = f"--verify-tag --notes-file {folder}/changes.md"
    files = f"gh release create v{number} {notes} {folder}/eyelevel-{number}* {folder}/{SUMS}"
    return [signed, f"git push origin v{number}", packages, files]


def _is_of_release(name: str) -> bool:
    return name.startswith("eyelevel-") or name in ("changes.md", "tag.txt", SUMS)


def unfit(out: Path, source: Path | None, parts: Sequence[str]) -> list[str]:
    """Return why a release cannot be made in `out`, which is emptied first."""
    found = []
    if source is not None and source.resolve() == out.resolve():
        found.append(f"{out} is where the parts are; name another folder with --out")
    elif out.exists() and any(not _is_of_release(file.name) for file in out.iterdir()):
        found.append(f"{out} holds something else than a release; name another folder with --out")
    if source is None and "image" in parts and "x86_64" not in parts:
        found.append("the image is built of the x86_64 wheel; add --without image")
    return found


def release(
    folder: Path, parts: Sequence[str], put: Callable[[str, Path], None], root: Path
) -> None:
    """Make `folder` of the parts that `put` puts there. RefusedError if it is no release."""
    number = one_version.workspace_version(root)
    refuse(one_version.faults(root))
    one_version.changes(root, number)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for part in parts:
        put(part, folder)
    refuse(faults(folder, number, root))
    write_beside(folder, number, root)


def main() -> int:
    """Make a release, or say why not."""
    parser = parser_of(__doc__, called="scripts/release")
    parser.add_argument("--without", action="append", choices=PARTS, default=[], help="leave out")
    parser.add_argument(
        "--from", dest="source", type=Path, metavar="FOLDER", help="take, not build"
    )
    parser.add_argument("--out", type=Path, help="a folder that is made anew")
    parser.add_argument(
        "--dirty", action="store_true", help="a try with what is not committed or dated"
    )
    asked = parser.parse_args()
    parts = [part for part in PARTS if part not in asked.without]
    number = one_version.workspace_version(ROOT)
    out = asked.out or ROOT / "dist" / f"release-{number}"
    try:
        refuse(unfit(out, asked.source, parts))
        if not asked.dirty:
            refuse([*uncommitted(ROOT), *one_version.undated(ROOT, number)])
        release(out, parts, taken(asked.source) if asked.source else built, ROOT)
    except (RefusedError, ValueError, portable_wheel.CannotBuildError) as error:
        print(f"release: refused: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        command = shlex.join(map(str, error.cmd))
        print(f"release: refused: {command} failed; it says why above", file=sys.stderr)
        return 1
    print((out / SUMS).read_text(encoding="utf-8"), end="")
    print("\n".join(("nothing is published; these commands would:", *publishing(out, number))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
