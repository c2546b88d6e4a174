"""Try escapes from the browser's place to the machine that it runs on.

`PROGRAM` runs with the system's Python and prints a line of JSON: of each try the name of the error
that refused it, or what it got. Arguments: a file, a path's socket and an abstract one of the host,
a port of the host's loopback, and a process of the host. No try harms a machine on which it
succeeds: dangerous calls get arguments that the kernel refuses later than the confinement does.
"""

import errno
import json
import subprocess
from collections.abc import Sequence

from timeouts import TEST_TIMEOUT_S

PYTHON = "/usr/bin/python3"

PROGRAM = r"""
import ctypes, errno, fcntl, json, os, socket, struct, sys, termios
file, path, abstract, port, process = sys.argv[1:6]
c = ctypes.CDLL(None, use_errno=True)
found = {}

def attempt(name, do):
    try:
        found[name] = repr(do())
    except OSError as error:
        found[name] = errno.errorcode.get(error.errno, str(error.errno))

def call(name, number, *arguments):
    def do():
        given = [ctypes.c_long(each) for each in (*arguments, *[0] * (6 - len(arguments)))]
        if c.syscall(ctypes.c_long(number), *given) < 0:
            error = ctypes.get_errno()
            if error not in (errno.EPERM, errno.ENOSYS):
                # The call itself found fault with its arguments: nothing had refused it.
                return "let through: " + errno.errorcode[error]
            raise OSError(error, name)
        return 0
    attempt(name, do)

def reach(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as out:
        out.settimeout(0.3)
        try:
            out.connect(address)
        except TimeoutError:
            raise OSError(errno.ETIMEDOUT, "")
        return "connected"

def device(path):
    os.mknod(path, 0o20600, os.makedev(1, 3))
    os.unlink(path)

attempt("read a file of the host", lambda: open(file).read())
attempt("list the host's home", lambda: os.listdir("/root"))
attempt("learn the host's name", lambda: os.uname().nodename != "lab" or os.listdir("/none"))
attempt("list all homes", lambda: os.listdir("/home"))
attempt("read the passwords", lambda: open("/etc/shadow").read())
attempt("read a disk", lambda: open("/dev/vda", "rb").read(1))
attempt("read the memory", lambda: open("/dev/mem", "rb").read(1))
attempt("make a network device", lambda: open("/dev/net/tun", "r+b"))
attempt("change the system", lambda: os.open("/usr/bin/env", os.O_WRONLY))
attempt("change the settings", lambda: os.open("/etc/hosts", os.O_WRONLY))
attempt("change the root", lambda: os.rmdir(os.mkdir("/eyelevel-was-here") or "/eyelevel-was-here"))
attempt("change the kernel", lambda: os.open("/proc/sys/kernel/hostname", os.O_WRONLY))
attempt("change the network", lambda: os.open("/proc/sys/net/ipv4/ip_default_ttl", os.O_WRONLY))
attempt("press a system key", lambda: os.open("/proc/sysrq-trigger", os.O_WRONLY))
attempt("make a device", lambda: device("/tmp/eyelevel-null"))
attempt("become root", lambda: os.setuid(0))
attempt("leave its cores", lambda: os.sched_setaffinity(0, range(os.cpu_count())))
attempt("leave by chroot", lambda: os.chroot("/"))
attempt("reach a socket of the host by its path", lambda: reach(socket.AF_UNIX, path))
attempt("reach an abstract one", lambda: reach(socket.AF_UNIX, "\0" + abstract))
attempt("reach the host's loopback", lambda: reach(socket.AF_INET, ("127.0.0.1", int(port))))
attempt("ask the names' daemon", lambda: reach(socket.AF_UNIX, "/run/nscd/socket"))
attempt("ask the bus", lambda: reach(socket.AF_UNIX, "/run/dbus/system_bus_socket"))
attempt("reach the hypervisor", lambda: socket.socket(40, socket.SOCK_STREAM))
attempt("listen to all packets", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("send raw packets", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 255))
attempt("use the kernel's ciphers", lambda: socket.socket(38, socket.SOCK_SEQPACKET))
attempt("see a process of the host", lambda: os.listdir("/proc/" + process))
attempt("stop a process of the host", lambda: os.kill(int(process), 0))
attempt("see the first process's files", lambda: os.listdir("/proc/1/root"))
attempt("use the first process's descriptors", lambda: open("/proc/1/fd/2", "wb"))
attempt("join the first process's network", lambda: open("/proc/1/ns/net"))
attempt("be somebody else's first process", lambda: os.open("/proc/1/mem", os.O_RDWR))

def type_for_somebody():
    _, terminal = os.openpty() if os.path.exists("/dev/ptmx") else (0, 0)
    fcntl.ioctl(terminal, termios.TIOCSTI, b"x")

attempt("type for somebody", type_for_somebody)
if os.uname().machine == "x86_64":
    numbers = {
        "trace a process": (101, 0x4206, 1), "read a process": (310, 1),
        "write a process": (311, 1),
        "mount": (165,), "unmount": (166,), "change the root again": (155,), "swap": (167,),
        "copy a mount": (428, -100), "move a mount": (429,), "open a file system": (430,),
        "open by a handle": (304,), "join a namespace": (308, -1), "load a program": (321, 99),
        "count events": (298,), "handle page faults": (323, -1), "keep a key": (248,),
        "ask for a key": (250,), "queue calls": (425,), "load a module": (175,),
        "start another kernel": (246, 0, 99), "restart": (169,), "set the clock": (164,),
        "name the machine": (170,), "read the kernel's log": (103, 99), "use ports": (173, 0, 99),
        "watch all files": (300, 99), "a call of tomorrow": (600,), "x32": (0x40000000 + 101,),
    }
    for name, (number, *arguments) in numbers.items():
        call(name, number, *arguments)

# A further user namespace may be made; nothing is gained in it.
found["make a user namespace"] = c.unshare(0x10000000 | 0x40000000 | 0x00020000)
if os.uname().machine == "x86_64":
    call("there: name the machine", 170)
    call("there: mount", 165)
    call("there: open a file system", 430)
attempt("there: change the system", lambda: os.open("/usr/bin/env", os.O_WRONLY))
attempt("there: change the kernel", lambda: os.open("/proc/sys/kernel/hostname", os.O_WRONLY))
attempt("there: read a file of the host", lambda: open(file).read())
attempt("there: reach the host's loopback", lambda: reach(socket.AF_INET, ("127.0.0.1", int(port))))
attempt("there: make a device", lambda: device("/tmp/eyelevel-null"))
found["there: folders"] = {each: sorted(os.listdir(each)) for each in ("/run", "/dev/shm")}
print(json.dumps(found))
"""

ALLOWED = {"make a user namespace": 0, "there: folders": {"/run": [], "/dev/shm": []}}
"""The results that are no escape."""


def escapes(prefix: Sequence[str], *hosts: str) -> tuple[dict[str, object], int]:
    """Return the attempts of the program, confined by `prefix`, that succeeded, and their total
    number."""
    done = subprocess.run(
        [*prefix, PYTHON, "-I", "-c", PROGRAM, *hosts],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    refused = {name for name, answer in found.items() if str(answer) in errno.errorcode.values()}
    got = {name: answer for name, answer in found.items() if name not in refused}
    return {name: answer for name, answer in got.items() if ALLOWED.get(name) != answer}, len(found)
