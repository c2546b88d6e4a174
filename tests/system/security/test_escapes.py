"""A program in the browser's place finds no way out: files, sockets, processes, mounts, devices."""

import json
import os
import random
import select
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from escapes import PYTHON, escapes
from raw_lab import NOBODY, raw_lab
from timeouts import TEST_TIMEOUT_S

from eyelevel.lab.binary import find_binary
from eyelevel.lab.confinement import confine


@dataclass(frozen=True)
class Host:
    """A file, two sockets by name, a port and a process of the host."""

    arguments: tuple[str, ...]
    listeners: tuple[socket.socket, ...]

    def reached(self) -> int:
        """How many of its sockets somebody connected to."""
        count = 0
        for listener in self.listeners:
            with suppress(BlockingIOError):
                listener.accept()[0].close()
                count += 1
        return count


@pytest.fixture
def host() -> Iterator[Host]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        # What stops the program must be the confinement, not the rights of a folder.
        folder.chmod(0o755)
        file, path, abstract = folder / "secret.txt", folder / "socket", f"eyelevel-{os.getpid()}"
        file.write_text("of the host")
        listeners = []
        for family, address in (
            (socket.AF_UNIX, str(path)),
            (socket.AF_UNIX, f"\0{abstract}"),
            (socket.AF_INET, ("127.0.0.1", 0)),
        ):
            listener = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            listener.bind(address)
            listener.listen()
            listener.setblocking(False)
            listeners.append(listener)
        path.chmod(0o777)
        port = listeners[2].getsockname()[1]
        arguments = (str(file), str(path), abstract, str(port), str(os.getpid()))
        yield Host(arguments, tuple(listeners))


def test_root_keeps_the_browser_in(new_lab, host, tmp_path):
    with new_lab(site=None) as lab:
        got, tries = escapes(confine(lab.command_prefix, [tmp_path]), *host.arguments)
    assert got == {}
    assert host.reached() == 0
    assert tries > 60


BOUNDS = r"""
import errno, json, os, resource, threading
found = {}
threading.stack_size(32768)
over, threads = threading.Event(), 1
try:
    while threads < 20_000:
        threading.Thread(target=over.wait, daemon=True).start()
        threads += 1
except RuntimeError:
    found["threads"] = threads
over.set()
bound = resource.getrlimit(resource.RLIMIT_NPROC)
try:
    resource.setrlimit(resource.RLIMIT_NPROC, (bound[0] + 1, bound[1] + 1))
except (ValueError, OSError):
    found["processes"] = bound
for folder in ("/tmp", "/dev/shm", "/run", "/var/tmp"):
    with open(folder + "/large", "wb") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, (1 << 30) + 4096)
        except OSError as error:
            found[folder] = errno.errorcode[error.errno]
    os.unlink(folder + "/large")
of = os.statvfs("/tmp")
found["files"] = of.f_files
print(json.dumps(found), flush=True)
os._exit(0)
"""
PROCESSES_MAX = 4096
"""Of crates/netns/src/confine/mod.rs."""


def bounds_of(prefix):
    command = [*prefix, PYTHON, "-I", "-c", BOUNDS]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # A smaller bound of the machine's own comes first.
    assert 100 < found.pop("threads") <= PROCESSES_MAX
    assert max(found.pop("processes")) <= PROCESSES_MAX
    assert 0 < found.pop("files") <= 100 * 1024
    assert found == dict.fromkeys(("/tmp", "/dev/shm", "/run", "/var/tmp"), "ENOSPC")


def test_processes_and_memory_in_folders_have_bounds(new_lab, tmp_path):
    with new_lab(site=None) as lab:
        bounds_of(confine(lab.command_prefix, [tmp_path]))


def test_they_have_them_for_an_ordinary_user(labs):
    with raw_lab(NOBODY) as (_, ready):
        enter = (*NOBODY, find_binary(), "enter", "--pid", str(ready["init_pid"]), "--")
        bounds_of((*enter, find_binary(), "confine", "--"))


def test_an_ordinary_user_keeps_it_in(labs, host):
    with raw_lab(NOBODY) as (_, ready):
        enter = (*NOBODY, find_binary(), "enter", "--pid", str(ready["init_pid"]), "--")
        got, _ = escapes((*enter, find_binary(), "confine", "--"), *host.arguments)
    assert got == {}
    assert host.reached() == 0


def test_without_a_lab_its_network_is_all_that_it_reaches(host):
    got, _ = escapes(confine((), []), *host.arguments)
    assert set(got) == {"reach an abstract one", "reach the host's loopback"}


def test_nothing_but_the_confinement_refuses_the_tries(new_lab, host):
    """In a lab alone, as it was, they succeed: root may do nearly everything."""
    with new_lab(site=None) as lab:
        got, _ = escapes(lab.command_prefix, *host.arguments)
    assert {
        "read a file of the host",
        "list the host's home",
        "read the passwords",
        "reach a socket of the host by its path",
        "change the system",
        "change the network",
        "make a network device",
        "reach the hypervisor",
        "listen to all packets",
    } <= set(got)
    assert host.reached() == 1


def run_confined(script: str, *descriptors: int, keeps: int = 0, umask: int = -1) -> str:
    done = subprocess.run(
        [*confine((), [], (), keeps), "/bin/sh", "-c", script],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=True,
        pass_fds=descriptors,
        umask=umask,
    )
    return done.stdout


def test_an_open_folder_of_the_callers_leads_nowhere():
    """It would lead to every file of the host that the program's user may read."""
    with ExitStack() as stack:
        folder = os.open("/", os.O_RDONLY)
        stack.callback(os.close, folder)
        pipes = []
        for _ in range(2):
            ends = os.pipe()
            pipes.extend(ends)
        for end in pipes:
            stack.callback(os.close, end)
        assert run_confined("ls /proc/self/fd", folder) == "0\n1\n2\n3\n"
        last = max(folder, *pipes)
        script = f"[ -e /proc/self/fd/{last} ] && echo there; true"
        assert run_confined(script, last, keeps=last - 2) == "there\n"
        assert run_confined(script, last, keeps=last - 3) == ""


def test_the_view_is_the_same_under_every_umask():
    script = "touch /var/tmp/own && head -c 1 /dev/zero | wc -c && id -un"
    assert run_confined(script, umask=0o077) == "1\nbrowser\n"


def test_copies_of_the_users_tell_nothing():
    script = "cat /etc/passwd- /etc/group- /etc/subuid /etc/subgid 2>/dev/null; true"
    assert run_confined(script) == ""


@pytest.mark.parametrize(
    ("option", "path"),
    [("--readable", "/"), ("--placed", "/=/www"), ("--placed", "/usr=/")],
)
def test_all_of_the_machine_is_no_path_to_show(option: str, path: str):
    command = [find_binary(), "confine", "--user", "1:1", option, path, "--", "true"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
    )
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1 and "all of the machine" in done.stderr


def test_a_confined_program_ends_with_who_waits_for_it_whenever_that_is_killed():
    """Not only after it has asked for that. What lives holds the pipe."""
    moments = random.Random(1)
    read_end, write_end = os.pipe()
    command = [*confine((), []), "sleep", "9000"]
    for _ in range(100):
        with subprocess.Popen(command, stdout=write_end, stderr=write_end) as process:
            with suppress(subprocess.TimeoutExpired):
                process.wait(moments.uniform(0.0, 0.02))
            process.kill()
    os.close(write_end)
    with os.fdopen(read_end, "rb") as everybody:
        assert select.select([everybody], [], [], TEST_TIMEOUT_S)[0]
        while select.select([everybody], [], [], TEST_TIMEOUT_S)[0] and os.read(read_end, 4096):
            pass
        assert select.select([everybody], [], [], 0)[0] and os.read(read_end, 1) == b""
