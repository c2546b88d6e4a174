"""A resolver of some names, each at one address of IPv4: the address to listen on, and the names as
JSON. Prints `ready`, and answers until it is killed."""

import json
import socket
import sys

# A pointer to the question's name, type A, class IN, a minute to live, four bytes.
ANSWER = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04"
IS_ANSWER, NO_SUCH_NAME = b"\x81\x80", b"\x81\x83"


def answer_to(query: bytes, names: dict[str, str]) -> bytes:
    """A for the names, nothing for their other types, and that there are no others."""
    end = query.index(b"\x00", 12) + 5
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode())
        at += 1 + query[at]
    found = names.get(".".join(labels).lower())
    is_v4 = query[end - 4 : end - 2] == b"\x00\x01"
    answer = ANSWER + socket.inet_aton(found) if found and is_v4 else b""
    counts = b"\x00\x01" + bytes([0, bool(answer)]) + bytes(4)
    return query[:2] + (IS_ANSWER if found else NO_SUCH_NAME) + counts + query[12:end] + answer


def main() -> None:
    address, names = sys.argv[1], json.loads(sys.argv[2])
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind((address, 53))
    print("ready", flush=True)
    while True:
        query, sender = datagrams.recvfrom(1500)
        datagrams.sendto(answer_to(query, names), sender)


if __name__ == "__main__":
    main()
