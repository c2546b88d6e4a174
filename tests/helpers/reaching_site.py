"""A recorded site whose page tries to reach whatever it is told of, by all means of a browser, and
shows names and messages that steer a terminal or are markup. A lab serves it."""

import json
from pathlib import Path

from eyelevel.lab.binary import run_tool

MAIN = "https://reaching.example/"
TARGETS_MAX = 32
ESCAPES = "\x1b]0;owned\x07\x9b31m"
MARKUP = "<script>document.title = 'ran'</script>"
WORDS = ESCAPES + MARKUP
DONE = MAIN + "done"
"""The request that the page makes after all attempts."""

SCRIPT = r"""
const words = WORDS, targets = TARGETS;
document.title = words;
document.querySelector('h1').id = words;
console.error(words);
const kept = [];
for (let part = 0; part < 25; part += 1) kept.push(new Uint8Array(4e6).fill(part));
const add = (name, fields) => {
  const made = document.createElement(name);
  Object.assign(made, fields);
  document.body.append(made);
  return made;
};
const quiet = (trying) => { try { return Promise.resolve(trying()).catch(() => {}); } catch {} };
quiet(() => fetch('/endless'));
add('img', { src: '/endless' });
const ask = (target, number, scheme) => {
  const to = `${scheme}://${target}`;
  quiet(() => fetch(to + '/fetch', { mode: 'no-cors' }));
  quiet(() => fetch(to + '/post', { method: 'POST', mode: 'no-cors', body: 'x' }));
  quiet(() => fetch(`/to/${scheme}/${number}`, { mode: 'no-cors' }));
  quiet(() => navigator.sendBeacon(to + '/beacon', 'x'));
  quiet(() => new EventSource(to + '/events'));
  quiet(() => new WebSocket(to.replace('http', 'ws') + '/socket'));
  add('img', { src: to + '/img' });
  add('script', { src: to + '/script' });
  for (const rel of ['dns-prefetch', 'preconnect', 'prefetch', 'stylesheet', 'modulepreload']) {
    add('link', { rel, href: `${to}/${rel}` });
  }
};
const go = (target, number, scheme) => {
  const to = `${scheme}://${target}`;
  add('iframe', { src: to + '/frame' });
  const frame = add('iframe', { name: `form-${scheme}-${number}`, hidden: true });
  add('form', { action: to + '/form', method: 'POST', target: frame.name }).submit();
};
const transport = (target) => {
  const made = new WebTransport(`https://${target}/transport`);
  for (const part of [made.ready, made.closed]) part.catch(() => {});
};
const peer = async (some) => {
  const iceServers = some.flatMap((target) => [
    { urls: 'stun:' + target },
    ...['udp', 'tcp'].map((by) => (
      { urls: `turn:${target}?transport=${by}`, username: 'a', credential: 'b' })),
  ]);
  const [one, other] = [new RTCPeerConnection({ iceServers }), new RTCPeerConnection()];
  one.createDataChannel('x');
  await one.setLocalDescription(await one.createOffer());
  await other.setRemoteDescription(one.localDescription);
  await other.setLocalDescription(await other.createAnswer());
  await one.setRemoteDescription(other.localDescription);
  for (const target of some) {
    const [, host, port] = target.match(/^\[?(.*?)\]?:(\d+)$/);
    for (const [kind, more] of [['udp', ''], ['tcp', ' tcptype passive']]) {
      const candidate = `candidate:1 1 ${kind} 2122260223 ${host} ${port} typ host${more}`;
      await one.addIceCandidate({ candidate, sdpMid: '0' }).catch(() => {});
    }
  }
};
const worker = async () => {
  await navigator.serviceWorker.register('/worker.js');
  (await navigator.serviceWorker.ready).active.postMessage(targets);
};
quiet(worker);
for (let from = 0; from < targets.length; from += 6) {
  quiet(() => peer(targets.slice(from, from + 6)));
}
for (const target of targets) quiet(() => transport(target));
for (const to of [ask, go]) {
  for (const [number, target] of targets.entries()) {
    for (const scheme of ['http', 'https']) to(target, number, scheme);
  }
}
fetch('/done');
"""
WORKER = """addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('message', (event) => {
  for (const target of event.data) for (const scheme of ['http', 'https']) {
    fetch(`${scheme}://${target}/worker`, { mode: 'no-cors' }).catch(() => {});
  }
});"""


def pack_reaching_site(folder: Path, targets: list[str]) -> Path:
    """The site as an archive in `folder`; `targets` are `host:port`, at most `TARGETS_MAX`."""
    assert len(targets) <= TARGETS_MAX
    exchanges = []

    def answer(path: str, kind: str, body: str) -> None:
        name = f"{len(exchanges)}"
        (folder / name).write_bytes(body.encode())
        headers = [["content-type", kind]]
        exchanges.append({"url": MAIN + path, "file": name, "headers": headers})

    def redirect(path: str, to: str) -> None:
        exchanges.append({"url": MAIN + path, "status": 302, "headers": [["location", to]]})

    # `</` would end the script before its time.
    words = json.dumps(WORDS).replace("</", "<\\/")
    script = SCRIPT.replace("WORDS", words).replace("TARGETS", json.dumps(targets))
    answer(
        "",
        "text/html",
        f"<!doctype html><title>{MARKUP}</title><link rel=icon href=data:,>"
        f"<h1>A heading</h1><script>{script}</script>",
    )
    answer("worker.js", "text/javascript", WORKER)
    answer("done", "text/plain", "done")
    redirect("endless", MAIN + "endless")
    for number, target in enumerate(targets):
        for scheme in ("http", "https"):
            redirect(f"to/{scheme}/{number}", f"{scheme}://{target}/redirected")
    manifest = folder / "manifest.json"
    about = {"title": WORDS, "main_url": MAIN, "created_at": "2026-01-01T00:00:00Z"}
    addresses = {"reaching.example": "192.0.2.1"}
    manifest.write_text(json.dumps(about | {"addresses": addresses, "exchanges": exchanges}))
    out = folder / "reaching.wacz"
    run_tool(["archive", "pack", str(manifest), "--out", str(out)])
    return out
