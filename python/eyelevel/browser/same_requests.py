"""Make a page request the same URLs in every load, by fixing its date and random numbers.

`Date` runs normally but is shifted by a constant to the time of the recording; `Math.random`,
`crypto.getRandomValues` and `crypto.randomUUID` come from seeded generators, one per calling
script, since the network decides in which order scripts arrive. A script's first numbers lie in the
middle half: code that runs for few visitors was hardly recorded. `performance.*`, timers and events
keep their own clock, which animations and metrics need. Workers are left unchanged.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

SEED = 0x65796C76
"""Seed of every load. The document's URL is mixed in, so that frames differ from each other."""

# sfc32 (Chris Doty-Humphrey, PractRand): small, fast, and passes BigCrush.
_SCRIPT = """((offset, seed) => {
  const address = location.href;
  const seeded = (script) => {
    let a = seed | 0, b = 0x9e3779b9 | 0, c = 0x243f6a88 | 0, d = 1;
    for (const letter of address + script) {
      a = Math.imul(a ^ letter.codePointAt(0), 0x01000193);
    }
    const next = () => {
      const t = (((a + b) | 0) + d) | 0;
      d = (d + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (c << 21) | (c >>> 11);
      c = (c + t) | 0;
      return t >>> 0;
    };
    for (let round = 0; round < 12; round += 1) next();
    return next;
  };
  // What asks: the first frame of the stack that stands in a file.
  const caller = () => {
    const { stackTraceLimit, prepareStackTrace } = Error;
    Error.stackTraceLimit = 6;
    if (prepareStackTrace) Error.prepareStackTrace = undefined;
    const stack = String(new Error().stack);
    Error.stackTraceLimit = stackTraceLimit;
    if (prepareStackTrace) Error.prepareStackTrace = prepareStackTrace;
    return (stack.match(/[a-z]+:\\/\\/[^ )]*?(?=(:\\d+)*\\)?$)/m) || [''])[0];
  };
  const byScript = () => {
    const generators = new Map();
    let asked = 0;
    return () => {
      // A stack costs some microseconds, which a page that draws a million numbers would feel.
      const script = asked < 1000 ? caller() : '';
      asked += 1;
      if (!generators.has(script)) generators.set(script, seeded(script));
      return generators.get(script);
    };
  };
  const replace = (object, name, value) => {
    const old = Object.getOwnPropertyDescriptor(object, name);
    if (old) Object.defineProperty(object, name, { ...old, value });
  };
  const numbers = byScript();
  const drawn = new Map();
  replace(Math, 'random', { random() {
    const number = numbers();
    const draws = (drawn.get(number) || 0) + 1;
    drawn.set(number, draws);
    const share = ((number() >>> 5) * 67108864 + (number() >>> 6)) / 9007199254740992;
    return draws > 16 ? share : 0.25 + share / 2;
  } }.random);
  if (globalThis.Crypto) {
    const generators = byScript();
    const real = Crypto.prototype.getRandomValues;
    const fill = { getRandomValues(array) {
      const filled = real.call(this, array);
      const byte = generators();
      const bytes = new Uint8Array(filled.buffer, filled.byteOffset, filled.byteLength);
      for (let at = 0; at < bytes.length; at += 1) bytes[at] = byte() & 255;
      return filled;
    } }.getRandomValues;
    replace(Crypto.prototype, 'getRandomValues', fill);
    replace(Crypto.prototype, 'randomUUID', { randomUUID() {
      const bytes = fill.call(this, new Uint8Array(16));
      bytes[6] = (bytes[6] & 15) | 64;
      bytes[8] = (bytes[8] & 63) | 128;
      const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
      return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    } }.randomUUID);
  }
  const RealDate = Date;
  const realNow = RealDate.now;
  const shown = { now() { return realNow() + offset; } }.now;
  replace(RealDate, 'now', shown);
  const ShiftedDate = new Proxy(RealDate, {
    apply: () => new RealDate(shown()).toString(),
    construct: (target, given, newTarget) => Reflect.construct(
      target, given.length ? given : [shown()],
      newTarget === ShiftedDate ? target : newTarget),
  });
  replace(RealDate.prototype, 'constructor', ShiftedDate);
  replace(globalThis, 'Date', ShiftedDate);
})(%s, %s);"""


@dataclass(frozen=True, slots=True)
class SameRequests:
    """Date and random numbers that a page sees."""

    recorded_at_unix_ms: int | None
    """The time that `Date` shows when the load begins; None for the machine's own."""
    seed: int = SEED

    def script(self) -> str:
        """Return the script to run before all scripts of the page."""
        offset_ms = 0
        if self.recorded_at_unix_ms is not None:
            # The only use of wall time: the offset to the time of the recording.
            offset_ms = self.recorded_at_unix_ms - round(time.time() * 1e3)
        return _SCRIPT % (json.dumps(offset_ms), json.dumps(self.seed))
