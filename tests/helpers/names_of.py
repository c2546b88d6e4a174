"""A resolver of some names, each at one address of IPv4, or at several addresses: the address to
listen on, and the names as JSON. Prints `ready`, and answers until it is killed."""

import json
import socket
import sys

# A pointer to the question's name; class IN, a minute to live.
NAME, FOR_A_MINUTE = b"\xc0\x0c", b"\x00\x01\x00\x00\x00\x3c"
TYPES = {b"\x00\x01": socket.AF_INET, b"\x00\x1c": socket.AF_INET6}
"""A and AAAA."""
IS_ANSWER, NO_SUCH_NAME = b"\x81\x80", b"\x81\x83"


def answer_to(query: bytes, names: dict[str, str | list[str]]) -> bytes:
    """Addresses of the names, nothing for their other types, and that there are no others."""
    end = query.index(b"\x00", 12) + 5
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode())
        at += 1 + query[at]
    found = names.get(".".join(labels).lower(), [])
    record_type = query[end - 4 : end - 2]
    answers = []
    for address in [found] if isinstance(found, str) else found:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        if TYPES.get(record_type) == family:
            packed = socket.inet_pton(family, address)
            answers.append(NAME + record_type + FOR_A_MINUTE + bytes([0, len(packed)]) + packed)
    counts = b"\x00\x01" + bytes([0, len(answers)]) + bytes(4)
    head = query[:2] + (IS_ANSWER if found else NO_SUCH_NAME) + counts
    return head + query[12:end] + b"".join(answers)


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
