"""Packets of one device with the kernel's stamps, until standard input ends; run inside a lab.

    python wire.py DEVICE

Prints `listening`, then, at the end, one JSON list a packet: the stamp in nanoseconds of Unix time,
1 where it went out, 6 (TCP) or 17 (UDP), the port on this side, TCP's flags, bytes of payload.
"""

import json
import select
import socket
import struct
import sys

ETH_P_ALL = 3
PACKET_OUTGOING = 4
SO_TIMESTAMPNS = 35
HEADERS_BYTES = 128
BUFFER_BYTES = 16 * 1024 * 1024
TCP, UDP = 6, 17


def parsed(packet: bytes, length: int, is_out: bool) -> list[int] | None:
    """Protocol, own port, flags and payload of an IPv4 packet of TCP or UDP."""
    if length < 28 or packet[0] >> 4 != 4 or packet[9] not in (TCP, UDP):
        return None
    start = 4 * (packet[0] & 15)
    total = struct.unpack_from("!H", packet, 2)[0]
    port = struct.unpack_from("!H", packet, start + (0 if is_out else 2))[0]
    if packet[9] == UDP:
        return [UDP, port, 0, total - start - 8]
    return [TCP, port, packet[start + 13], total - start - 4 * (packet[start + 12] >> 4)]


def main(device: str) -> None:
    """Capture, then print."""
    capture = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
    capture.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    capture.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    capture.bind((device, 0))
    print("listening", flush=True)
    seen = []
    while True:
        ready, _, _ = select.select([capture, sys.stdin], [], [])
        if sys.stdin in ready:
            break
        packet, ancillary, flags, address = capture.recvmsg(
            HEADERS_BYTES, HEADERS_BYTES, socket.MSG_TRUNC
        )
        seconds, nanoseconds = struct.unpack("qq", ancillary[0][2][:16])
        is_out = address[2] == PACKET_OUTGOING
        found = parsed(packet, HEADERS_BYTES if flags & socket.MSG_TRUNC else len(packet), is_out)
        if found is not None:
            seen.append([seconds * 1_000_000_000 + nanoseconds, int(is_out), *found])
    for packet in seen:
        print(json.dumps(packet))


if __name__ == "__main__":
    main(*sys.argv[1:])
