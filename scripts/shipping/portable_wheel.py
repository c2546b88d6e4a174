"""Builds the wheel for glibc from 2.28 on, for this architecture or another, into dist/.

    python -m scripts.shipping.portable_wheel           # for x86_64
    python -m scripts.shipping.portable_wheel aarch64   # cross-built, with rustup's library
    python -m scripts.shipping.portable_wheel aarch64 --debian testing   # with Debian's; as root

zig (the wheel `ziglang`) compiles the C of AWS-LC and links, whatever glibc this machine has.
Rust's standard library for another architecture is `rustup target add`'s or a package of Debian,
libstd-rust-dev, which fits Debian's own compiler only: so `--debian SUITE` makes a file system of
that suite by mmdebstrap, once, and builds inside, without a network. What is built is refused if
`scripts/shipping/glibc.py` finds that it would not start where its name says; a program of another
architecture is started under qemu's emulation of its instructions, if that is there.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Mapping
from importlib import util
from pathlib import Path

from scripts.arguments import ROOT, parser_of
from scripts.shipping import glibc

COMPATIBILITY = "manylinux_2_28"
BUILDS = ROOT / "target" / "portable"
DESCRIBED = ("describe", "--always", "--exclude=*", "--abbrev=12", "--dirty=-changed")
"""The git command that names the commit, and whether the tree differs."""
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
"""Debian's names of the architectures."""
EMULATED = {"aarch64": ("qemu-aarch64-static", "/usr/aarch64-linux-gnu")}
"""What starts a foreign program, and where its glibc is (qemu-user-static, libc6-arm64-cross)."""


class CannotBuildError(Exception):
    """A wheel that cannot be built here, with the way out."""


def build(architecture: str, out: Path, debian: str | None) -> Path:
    """The wheel, built and checked. Raises CannotBuildError, and CalledProcessError of a tool."""
    target = f"{architecture}-unknown-linux-gnu"
    fresh = BUILDS / architecture / "wheel"
    shutil.rmtree(fresh, ignore_errors=True)
    maturin = str(Path(sysconfig.get_path("scripts")) / "maturin")
    command = [
        *(maturin, "build", "--release", "--locked", "--quiet", "--zig"),
        *("--target", target, "--compatibility", COMPATIBILITY, "--out", str(fresh)),
    ]
    if debian is None and not has_standard_library(target):
        raise CannotBuildError(
            f"this Rust has no standard library for {target}: rustup target add {target}, or as "
            f"root python -m scripts.shipping.portable_wheel {architecture} --debian testing"
        )
    environment = {
        # What `--version` says of the build: inside another file system there is no git to ask.
        "EYELEVEL_COMMIT": _git(*DESCRIBED),
        "CARGO_TARGET_DIR": str(BUILDS / architecture / (debian or "host")),
        # Files in the wheel have the time of the commit: the same sources give the same archive.
        "SOURCE_DATE_EPOCH": _git("log", "-1", "--format=%ct"),
        "ZIG_GLOBAL_CACHE_DIR": str(BUILDS / "zig"),
    }
    if debian is None:
        path = f"{_zig()}:{os.environ['PATH']}"
        subprocess.run(
            command, cwd=ROOT, env={**os.environ, **environment, "PATH": path}, check=True
        )
    else:
        root = _file_system(debian, architecture)
        subprocess.run(["cargo", "fetch", "--locked", "--quiet"], cwd=ROOT, check=True)
        _inside(root, command, environment)
    (built,) = fresh.glob("*.whl")
    wrong = glibc.faults_of_wheel(built)
    if wrong:
        raise CannotBuildError(f"{built.name} is refused: {'; '.join(wrong)}")
    out.mkdir(parents=True, exist_ok=True)
    return Path(shutil.move(built, out / built.name))


def has_standard_library(target: str) -> bool:
    """Return whether the compiler on the PATH can build for a target."""
    command = ["rustc", "--print", "target-libdir", "--target", target]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return any(Path(said.strip()).glob("libstd-*.rlib")) if said.strip() else False


def started(wheel: Path, folder: Path) -> str:
    """What the binary in a wheel says of itself and of a shipped site, or why it was not started.

    Raises CalledProcessError if it does not start.
    """
    _, architecture = glibc.promised(wheel)
    before: tuple[str, ...] = ()
    if architecture != os.uname().machine:
        emulator, libraries = EMULATED[architecture]
        if shutil.which(emulator) is None or not Path(libraries).is_dir():
            return f"not started: {emulator} or {libraries} is not there"
        before = (emulator, "-L", libraries)
    with zipfile.ZipFile(wheel) as pack:
        names = pack.namelist()
        inside = next(name for name in names if name.endswith(f"/scripts/{glibc.BINARY}"))
        binary = Path(pack.extract(inside, folder))
        binary.chmod(0o755)
        site = pack.extract(min(name for name in names if name.endswith(".wacz")), folder)
    said = [
        subprocess.run(
            [*before, str(binary), *arguments], stdout=subprocess.PIPE, text=True, check=True
        ).stdout.strip()
        for arguments in (["--version"], ["archive", "verify", site])
    ]
    return ", ".join(said)


def _zig() -> str:
    """The folder that has `zig`, which needs no Python: it runs in other file systems, too."""
    found = util.find_spec("ziglang")
    if found is None or found.origin is None:
        raise CannotBuildError("ziglang is not in this environment: make wheel puts it there")
    return str(Path(found.origin).parent)


def _file_system(suite: str, architecture: str) -> Path:
    """Debian's compiler with the standard libraries of both architectures, made once."""
    folder = ROOT / "target" / "file-systems" / f"{suite}-{architecture}"
    if (folder / "usr/bin/cargo").exists():
        return folder
    if os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        raise CannotBuildError("a file system of Debian is made by root with mmdebstrap")
    here = DEBIAN[os.uname().machine]
    both = list(dict.fromkeys((here, DEBIAN[architecture])))
    folder.parent.mkdir(parents=True, exist_ok=True)
    packages = ["ca-certificates", "cargo", "rustc", *(f"libstd-rust-dev:{it}" for it in both)]
    subprocess.run(
        [
            *("mmdebstrap", "--quiet", "--variant=apt", f"--architectures={','.join(both)}"),
            # A mirror's list may be older than the suite promises; what it lists is signed anyhow.
            *("--aptopt=Acquire::Check-Valid-Until \"false\"", f"--include={','.join(packages)}"),
            *(suite, str(folder)),
        ],
        check=True,
    )  # fmt: skip
    return folder


def _inside(root: Path, command: list[str], environment: Mapping[str, str]) -> None:
    """Run a command in another file system, which gets the repository and cargo's store as well.

    They are where they are here. Mounts are of this command's own namespace and go with it.
    """
    store = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    shared = [ROOT, store, Path(_zig())]
    mounts = [f"mkdir -p {root}{each} && mount --bind {each} {root}{each}" for each in shared]
    path = f"{_zig()}:/usr/bin:/bin"
    given = {
        **environment,
        "CARGO_HOME": str(store),
        "CARGO_NET_OFFLINE": "true",
        "HOME": "/root",
        "PATH": path,
        "EYELEVEL_HERE": str(ROOT),
    }
    words = [f"{name}={value}" for name, value in given.items()]
    script = "\n".join(
        (
            "set -eu",
            *mounts,
            f"mount --bind /dev {root}/dev",
            f"mount -t proc proc {root}/proc",
            f'exec chroot {root} env -i "$@"',
        )
    )
    shell = ["sh", "-eu", "-c", 'cd "$EYELEVEL_HERE"; exec "$@"', "sh"]
    apart = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"]
    subprocess.run([*apart, *words, *shell, *command], check=True)


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.strip()


def main() -> int:
    """Build one wheel, and start what is in it."""
    parser = parser_of(__doc__)
    parser.add_argument("architecture", nargs="?", choices=[*DEBIAN], default="x86_64")
    parser.add_argument("--debian", metavar="SUITE", help="build in a file system of this suite")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder for the wheel")
    asked = parser.parse_args()
    try:
        wheel = build(asked.architecture, asked.out, asked.debian)
        print(f"{wheel}: {started(wheel, BUILDS / asked.architecture / 'started')}")
    except CannotBuildError as error:
        print(f"portable_wheel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
