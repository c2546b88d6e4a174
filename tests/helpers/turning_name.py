"""A name that leads to a public address and to loopback in turns, asked for through a recorder.

Run as a script where /etc/resolv.conf names 127.0.0.53, with the public address, a port, a number
of tries, the lab's program and a file; prints JSON: the recorder's `answers` (status codes), how
often the name was `asked` for, and how many connections came to the port on `loopback`.
"""

import base64
import json
import socket
import subprocess
import sys
import threading

NAME = "turning.example"
RESOLVER = "127.0.0.53"
# A pointer to the question's name, type A, class IN, no time to live, four bytes.
ANSWER = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04"
COUNTS = {"asked": 0, "loopback": 0}


def resolve(datagrams: socket.socket, public: str) -> None:
    while True:
        query, sender = datagrams.recvfrom(1500)
        end = query.index(b"\x00", 12) + 5
        answer = b""
        if query[end - 4 : end - 2] == b"\x00\x01":
            address = "127.0.0.1" if COUNTS["asked"] % 2 else public
            COUNTS["asked"] += 1
            answer = ANSWER + socket.inet_aton(address)
        counts = b"\x00\x01" + bytes([0, bool(answer)]) + bytes(4)
        datagrams.sendto(query[:2] + b"\x81\x80" + counts + query[12:end] + answer, sender)


def count(server: socket.socket) -> None:
    while True:
        server.accept()[0].close()
        COUNTS["loopback"] += 1


def status(proxy: str, credentials: str, target: str) -> int:
    """Return the recorder's status for a request to open a tunnel."""
    host, port = proxy.split(":")
    encoded = base64.b64encode(credentials.encode()).decode()
    with socket.create_connection((host, int(port))) as client:
        fields = f"Host: {target}\r\nProxy-Authorization: Basic {encoded}\r\n"
        client.sendall(f"CONNECT {target} HTTP/1.1\r\n{fields}\r\n".encode())
        return int(client.recv(4000).split()[1])


def main() -> None:
    public, port, tries, program, out = sys.argv[1:]
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind((RESOLVER, 53))
    threading.Thread(target=resolve, args=(datagrams, public), daemon=True).start()
    server = socket.create_server(("127.0.0.1", int(port)))
    threading.Thread(target=count, args=(server,), daemon=True).start()
    command = [program, "record", "--port", "0", "--out", out]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as recorder:
        ready = json.loads(recorder.stdout.readline())
        wish = (ready["address"], ready["credentials"], f"{NAME}:{port}")
        answers = [status(*wish) for _ in range(int(tries))]
        recorder.kill()
    print(json.dumps({"answers": answers, **COUNTS}))


if __name__ == "__main__":
    main()
