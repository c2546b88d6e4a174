"""Echo requests from inside a namespace; prints the round trips in ms as a list of JSON.

`ping` itself prints tenths of a millisecond from 10 ms on. A round trip is from before the send to
the kernel's own time of reception, so no process has to wake up within it.
"""

import json
import socket
import struct
import sys
import time

SO_TIMESTAMPNS = 35  # asm-generic/socket.h; not in Python's socket module
ECHO_REQUEST, ECHO_REPLY = 8, 0
IDENTIFIER = 0x6579
TIMEOUT_S = 2.0


def main() -> None:
    """Arguments: address, count, interval in seconds."""
    address, count, interval_s = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        raw.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        raw.settimeout(TIMEOUT_S)
        rtts_ms = []
        for number in range(count):
            rtts_ms.append(_round_trip_ms(raw, address, number))
            time.sleep(interval_s)
    print(json.dumps(rtts_ms))


def _round_trip_ms(raw: socket.socket, address: str, number: int) -> float:
    head = struct.pack("!BBHHH", ECHO_REQUEST, 0, 0, IDENTIFIER, number)
    packet = struct.pack("!BBHHH", ECHO_REQUEST, 0, _checksum(head), IDENTIFIER, number)
    sent_ns = time.clock_gettime_ns(time.CLOCK_REALTIME)
    raw.sendto(packet, (address, 0))
    while True:
        data, control, _, _ = raw.recvmsg(200, 200)
        kind, _, _, identifier, sequence = struct.unpack("!BBHHH", data[20:28])
        if (kind, identifier, sequence) == (ECHO_REPLY, IDENTIFIER, number):
            seconds, nanos = struct.unpack("qq", control[0][2][:16])
            return (seconds * 1_000_000_000 + nanos - sent_ns) / 1e6


def _checksum(data: bytes) -> int:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


if __name__ == "__main__":
    main()
