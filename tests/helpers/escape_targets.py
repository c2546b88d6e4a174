"""A machine with what no page may reach: run as a script, it listens, counts and serves a page.

Its one argument is JSON: `page` (a port, or null) and `at` (the page's address, 127.0.0.1 where it
lacks), `listen` (pairs of address and port, TCP and UDP each) and `ask` (`host:port` of everything
that the page tries). Each line of its input is answered with a line of JSON: how often each
listener was reached, what its visitors spoke first, and what the page said that it had reached.
"""

import http.server
import json
import socket
import sys
import threading
from contextlib import suppress
from typing import Any

HITS: dict[str, int] = {}
HEARD: dict[str, set[str]] = {}
SAID: list[str] = []

PAGE = """<!doctype html><title>tempting</title><link rel=icon href=data:,><body><script>
const targets = TARGETS, reached = [];
const add = (name, fields) => {
  const made = document.createElement(name);
  Object.assign(made, fields);
  document.body.append(made);
  return made;
};
const tried = (way, trying) => trying.then(() => reached.push(way), () => {});
const waits = [];
for (const [number, target] of targets.entries()) {
  const to = `http://${target}`;
  for (const url of [to + '/fetched', `https://${target}/secure`, `/to/${number}`]) {
    waits.push(tried(`fetch ${url}`, fetch(url, { mode: 'no-cors' })));
  }
  waits.push(tried(`post ${to}`, fetch(to + '/p', { method: 'POST', mode: 'no-cors', body: 'x' })));
  add('img', { src: to + '/i.png', onload: () => reached.push('img ' + to) });
  add('script', { src: to + '/s.js', onload: () => reached.push('script ' + to) });
  add('iframe', { src: to + '/frame' });
  add('iframe', { src: `/to/${number}` });
  for (const rel of ['dns-prefetch', 'preconnect', 'prefetch', 'stylesheet']) {
    add('link', { rel, href: to + '/' + rel });
  }
  navigator.sendBeacon(to + '/beacon', 'x');
  for (const scheme of ['ws', 'wss']) {
    try {
      const socket = new WebSocket(`${scheme}://${target}/socket`);
      socket.onopen = () => reached.push(`${scheme} ${target}`);
    } catch {}
  }
  new EventSource(to + '/events').onopen = () => reached.push('events ' + to);
  const frame = add('iframe', { name: 'form' + number });
  const form = add('form', { action: to + '/form', method: 'POST', target: frame.name });
  form.submit();
  try {
    const transport = new WebTransport(`https://${target}/transport`);
    waits.push(tried('transport ' + target, transport.ready));
    transport.closed.catch(() => {});
  } catch {}
}
const peers = async () => {
  const iceServers = targets.flatMap((target) => [
    { urls: 'stun:' + target },
    { urls: `turn:${target}?transport=udp`, username: 'a', credential: 'b' },
    { urls: `turn:${target}?transport=tcp`, username: 'a', credential: 'b' },
  ]).slice(0, 40);
  const [one, other] = [new RTCPeerConnection({ iceServers }), new RTCPeerConnection()];
  one.createDataChannel('x');
  await one.setLocalDescription(await one.createOffer());
  await other.setRemoteDescription(one.localDescription);
  await other.setLocalDescription(await other.createAnswer());
  await one.setRemoteDescription(other.localDescription);
  for (const target of targets) {
    const [, host, port] = target.match(/^\\\\[?(.*?)\\\\]?:(\\\\d+)$/);
    for (const [kind, more] of [['udp', ''], ['tcp', ' tcptype passive']]) {
      const candidate = `candidate:1 1 ${kind} 2122260223 ${host} ${port} typ host${more}`;
      await one.addIceCandidate({ candidate, sdpMid: '0' }).catch(() => {});
    }
  }
  await new Promise((done) => setTimeout(done, 2000));
};
waits.push(peers().catch((error) => reached.push('no peers: ' + error)));
Promise.all(waits).then(() => fetch('/said', { method: 'POST', body: JSON.stringify(reached) }));
</script>"""


class Handler(http.server.BaseHTTPRequestHandler):
    ask: tuple[str, ...] = ()

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        place = self.path.rpartition("/")[2]
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("location", f"http://{self.ask[int(place)]}/redirected")
            self.send_header("content-length", "0")
            self.end_headers()
        else:
            self._answer(PAGE.replace("TARGETS", json.dumps(self.ask)).replace("\\\\", "\\"))

    def do_POST(self) -> None:
        SAID.append(self.rfile.read(int(self.headers["content-length"])).decode())
        self._answer("thanks")

    def _answer(self, body: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


def listen(address: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    stream = socket.create_server((address, port), family=family)
    datagrams = socket.socket(family, socket.SOCK_DGRAM)
    datagrams.bind((address, port))
    for kind, waiting in (("tcp", stream.accept), ("udp", lambda: datagrams.recvfrom(2000))):
        name = f"{kind} {address} {port}"
        HITS[name], HEARD[name] = 0, set()
        threading.Thread(target=_count, args=(name, waiting), daemon=True).start()


def _count(name: str, waiting: Any) -> None:
    while True:
        first, _ = waiting()
        HITS[name] += 1
        if isinstance(first, socket.socket):
            threading.Thread(target=_answer, args=(name, first), daemon=True).start()
        else:
            HEARD[name].add(_kind(first))


def _answer(name: str, connection: socket.socket) -> None:
    with connection, suppress(OSError):
        connection.settimeout(2)
        with suppress(TimeoutError):
            HEARD[name].add(_kind(connection.recv(2000)))
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nOK")


def _kind(sent: bytes) -> str:
    """Return what kind of protocol began: STUN or TURN (RFC 8489), TLS, QUIC, or the first line's
    words."""
    if b"\x21\x12\xa4\x42" in sent[:12]:
        return "stun"
    if sent[:2] == b"\x16\x03":
        return "tls"
    if sent and sent[0] & 0xC0 == 0xC0:
        return "quic"
    return b" ".join(sent.split(b" ")[:2])[:40].decode("latin-1")


def main() -> None:
    config = json.loads(sys.argv[1])
    for address, port in config["listen"]:
        listen(address, port)
    if config["page"] is not None:
        Handler.ask = tuple(config["ask"])
        place = config.get("at", "127.0.0.1"), config["page"]
        server = http.server.ThreadingHTTPServer(place, Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready", flush=True)
    for _ in sys.stdin:
        heard = {name: sorted(lines.copy()) for name, lines in HEARD.items()}
        print(json.dumps({"hits": HITS, "heard": heard, "said": SAID}), flush=True)


if __name__ == "__main__":
    main()
