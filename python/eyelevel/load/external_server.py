"""Run an external server in a lab: the site's files and certificates, its process, its end."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from eyelevel.base.errors import LabError
from eyelevel.lab.binary import run_tool
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.lab.confinement import confine, hand_over
from eyelevel.plan.stacks import ExternalServer, Stack
from eyelevel.store.disk import temporary_folder

LISTEN_TIMEOUT_S = 10.0
END_TIMEOUT_S = 2.0
ERROR_BYTES_MAX = 2000
PORT = 443
OUTPUT_FILE = "output.txt"
ANSWERS = "answers.tsv"
FIELDS = "fields.tsv"
SITE = "recorded"
CERTIFICATE = "certificate.pem"
KEY = "key.pem"
WORK = "work"
_POLL_S = 0.01
_TCP_LISTEN = "0A"


def find_opened_paths(server: ExternalServer) -> list[tuple[str, Path]]:
    """Return the paths outside of the system that a server would see, with their names."""
    paths = [(word, Path(word).absolute()) for word in server.command if _names_file(word)]
    return [*paths, *((path, _expand_user(path)) for path in server.paths)]


def with_server(base: Stack, name: str, server: ExternalServer) -> Stack:
    """Return a stack that this server serves instead of ours, marked as in plans."""
    return replace(base, name=f"{name}@external", external_server=server)


@dataclass(frozen=True)
class Place:
    """The folder and addresses from which an external server serves its site."""

    folder: Path
    addresses: tuple[str, ...]

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of the server's command."""
        return {
            "EYELEVEL_FILES": str(self.folder / SITE / "files"),
            "EYELEVEL_ANSWERS": str(self.folder / SITE / ANSWERS),
            "EYELEVEL_FIELDS": str(self.folder / SITE / FIELDS),
            "EYELEVEL_CERTIFICATE": str(self.folder / CERTIFICATE),
            "EYELEVEL_KEY": str(self.folder / KEY),
            "EYELEVEL_FOLDER": str(self.folder / WORK),
            "EYELEVEL_ADDRESSES": " ".join(self.addresses),
            # The rest of the caller's environment stays private.
            "PATH": os.environ.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "HOME": str(self.folder / WORK),
            "TMPDIR": str(self.folder / WORK),
        }

    @property
    def interop_paths(self) -> dict[str, Path]:
        """A single host's files and the certificate, by their paths in the QUIC interop runner."""
        files = self.folder / SITE / "files"
        hosts = [each for each in files.iterdir() if each.is_dir()]
        of_host = {"/www": hosts[0]} if len(hosts) == 1 else {}
        chain = {"/certs/cert.pem": self.folder / CERTIFICATE, "/certs/priv.key": self.folder / KEY}
        return {**of_host, **chain}


@contextmanager
def start_served_lab(stack: Stack, archive: str, config: LabConfig) -> Iterator[Lab]:
    """Provide a lab served by the stack's external server, or by ours if it has none.

    Raises LabError if lab or server do not start; the server ends with the block.
    """
    if stack.external_server is None:
        with Lab(config) as lab:
            yield lab
        return
    with ExitStack() as left:
        # Readable for the server, whichever user it runs as; the parent folder keeps others out.
        folder = left.enter_context(temporary_folder("server")) / "site"
        folder.mkdir()
        folder.chmod(0o755)
        (folder / WORK).mkdir(mode=0o700)
        export = ["archive", "export", archive, "--answers", str(folder / SITE)]
        run_tool(export, prints_json=False)
        lab = left.enter_context(Lab(replace(config, certificates=str(folder))))
        addresses = dict.fromkeys(origin["address"] for origin in lab.ready.origins)
        place = Place(folder, tuple(addresses))
        # Whatever our umask is, the server must be able to read all of it, and others not the key.
        hand_over(place.folder)
        running = _run_server(stack.external_server, place, lab, stack)
        lab.external_server_pid = left.enter_context(running)
        yield lab


@contextmanager
def _run_server(server: ExternalServer, place: Place, lab: Lab, stack: Stack) -> Iterator[int]:
    """Run the server during the block, and provide its first process."""
    command, paths = _make_absolute(server.command)
    readable = (place.folder, *paths, *map(_require_path, server.paths))
    work = place.folder / WORK
    prefix = confine(lab.external_server_prefix, [work], readable, placed=place.interop_paths)
    with (place.folder / OUTPUT_FILE).open("wb") as output:
        process = subprocess.Popen(
            [*prefix, *command],
            env={**place.environment, "EYELEVEL_HTTP_VERSION": stack.http_version},
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        _await_listener(process, place, server.command, over_quic=stack.over_quic)
        yield process.pid
    finally:
        _end(process)


def _make_absolute(command: Sequence[str]) -> tuple[list[str], list[Path]]:
    """Return the command with absolute paths for the files that it names, and those files.

    Raises `LabError` if it begins with a path at which there is nothing.
    """
    if os.sep in command[0] and not Path(command[0]).exists():
        raise LabError(
            f"starting the external server `{command[0]}`: there is no such file, seen from "
            f"{Path.cwd()}; correct its command"
        )
    absolute, paths = [], []
    for word in command:
        if _names_file(word):
            # Not resolved: a virtual environment's Python is a link that determines its location.
            path = Path(word).absolute()
            paths.append(path)
            word = str(path)
        absolute.append(word)
    return absolute, paths


def _names_file(word: str) -> bool:
    return os.sep in word and Path(word).is_file()


def _expand_user(path: str) -> Path:
    # A `~name` of a user that the machine does not have stays as it is.
    return Path(os.path.expanduser(path)).absolute()  # noqa: PTH111


def _require_path(path: str) -> Path:
    absolute = _expand_user(path)
    if not absolute.exists():
        raise LabError(
            f"showing {path} to an external server: there is no such file or folder; "
            "correct its `paths`"
        )
    return absolute


def _await_listener(
    process: subprocess.Popen[bytes], place: Place, command: Sequence[str], *, over_quic: bool
) -> None:
    output = place.folder / OUTPUT_FILE
    outside = Path("/proc/self/ns/net").readlink()
    entered = Path(f"/proc/{process.pid}")
    deadline = time.monotonic() + LISTEN_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise LabError(_describe_end(command, output))
        if _is_listening(entered, outside, len(place.addresses), over_quic=over_quic):
            return
        time.sleep(_POLL_S)
    kind = "UDP" if over_quic else "TCP"
    raise LabError(
        f"the server `{' '.join(command)}` did not listen on {kind} port {PORT} within "
        f"{LISTEN_TIMEOUT_S:g} s; {_format_output(output)}; correct its command"
    )


def _is_listening(entered: Path, outside: Path, addresses: int, *, over_quic: bool) -> bool:
    """Return whether port 443 is bound at every address, each by itself or all by one wildcard."""
    bound = set()
    try:
        if (entered / "ns/net").readlink() == outside:
            return False
        for name in ("udp", "udp6") if over_quic else ("tcp", "tcp6"):
            table = entered / "net" / name
            for line in table.read_text().splitlines()[1:] if table.exists() else ():
                fields = line.split()
                listening = over_quic or fields[3] == _TCP_LISTEN
                if listening and fields[1].endswith(f":{PORT:04X}"):
                    bound.add(fields[1].rpartition(":")[0])
    except OSError:
        return False
    return any(not address.strip("0") for address in bound) or len(bound) >= addresses


def _describe_end(command: Sequence[str], output: Path) -> str:
    """Return how a server ended, and the likely remedy.

    It starts in another folder, so that a file named without a slash is absent there.
    """
    ended = f"the server `{' '.join(command)}` ended by itself; {_format_output(output)}"
    plain = next((each for each in command if os.sep not in each and Path(each).is_file()), None)
    remedy = f"write `./{plain}` for the file of that name" if plain else "correct its command"
    return f"{ended}; {remedy}"


def _format_output(output: Path) -> str:
    words = output.read_bytes()[-ERROR_BYTES_MAX:].decode(errors="replace").split()
    return f"it said: {' '.join(words)}" if words else "it said nothing"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the server's processes before the lab itself ends, so that they are reaped inside."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    for number in (signal.SIGTERM, signal.SIGKILL):
        inside = []
        with suppress(OSError):
            inside = [int(pid) for pid in children.read_text().split()]
        for pid in inside or [process.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=END_TIMEOUT_S)
            return
    process.kill()
    process.wait()
