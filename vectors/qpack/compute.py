"""Field sections that another QPACK wrote: what this prints is `ls_qpack.json`.

ls-qpack (LiteSpeed's, in C) through pylsqpack, which aioquic stands on. Requests like a browser's
and a table that holds a few of them, so that entries are inserted, copied, referred to before they
come and evicted. `crates/http3/tests/all/ls_qpack.rs` reads them.
"""

import json
import random
from typing import Any

from pylsqpack import Decoder, Encoder

TABLE_BYTES = 1800
BLOCKED_STREAMS = 8
REQUESTS = 80
SEED = 13
AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156"


def request(rng: random.Random, number: int) -> list[tuple[bytes, bytes]]:
    """A request's fields."""
    host = rng.choice(["www.example.test", "static.example.test", "a.test"])
    fields = [
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", host),
        (":path", f"/{rng.choice('abc')}/{number // 3}.js"),
        ("user-agent", AGENT),
        ("accept", rng.choice(["*/*", "text/css,*/*;q=0.1", "image/avif,image/webp,*/*;q=0.8"])),
        ("referer", f"https://{host}/{number // 20}"),
        ("x-empty", ""),
        ("x-bytes", "".join(rng.choice("\x7f!~\\|") for _ in range(number % 9))),
    ]
    return [(name.encode(), value.encode("latin-1")) for name, value in fields]


def session() -> list[dict[str, Any]]:
    """What happens, in the order of arrival: every third section comes before its inserts."""
    rng = random.Random(SEED)
    encoder, decoder = Encoder(), Decoder(TABLE_BYTES, BLOCKED_STREAMS)
    steps: list[dict[str, Any]] = []

    def instruct(data: bytes) -> None:
        if data:
            steps.append({"encoder": data.hex()})
            decoder.feed_encoder(data)

    instruct(encoder.apply_settings(TABLE_BYTES, BLOCKED_STREAMS))
    for number in range(REQUESTS):
        fields = request(rng, number)
        instructions, section = encoder.encode(4 * number, fields)
        said = {
            "stream": 4 * number,
            "section": section.hex(),
            "fields": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in fields],
        }
        late = number % 3 == 2
        if late:
            steps.append(said)
        instruct(instructions)
        if not late:
            steps.append(said)
        acknowledged, read = decoder.feed_header(4 * number, section)
        assert read == fields
        # Some acknowledgements come much later, so that entries may not go.
        if number % 7 != 3:
            encoder.feed_decoder(acknowledged)
    return steps


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(step) for step in session())
    head = f'{{"table_bytes": {TABLE_BYTES}, "blocked_streams_max": {BLOCKED_STREAMS}, "steps": [\n'
    print(head + lines + "\n]}")
