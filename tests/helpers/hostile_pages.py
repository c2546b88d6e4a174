"""Pages that lie about their timings or do not behave, for the server of `pages`."""

from pages import BODIES

HEAD = "<!doctype html><link rel=icon href=data:,><title>&lt;script>alert(1)&lt;/script></title>"
HONEST = "<h1>A heading</h1><img src=/0.png width=200 height=100>"

# It tells what its own world says of its timings, which is what it made of them.
FORGERY = """<script>
addEventListener('load', () => console.error(
  'own world: ' + performance.getEntriesByType('navigation')[0].loadEventEnd));
performance.now = () => 1;
Performance.prototype.getEntriesByType = () => [{ loadEventEnd: 1, responseStart: 1 }];
for (const name of ['loadEventStart', 'loadEventEnd', 'domContentLoadedEventEnd', 'responseStart'])
  Object.defineProperty(PerformanceNavigationTiming.prototype, name, { get: () => 1 });
Object.defineProperty(PerformanceEntry.prototype, 'startTime', { get: () => 1 });
Object.defineProperty(Performance.prototype, 'timeOrigin', { get: () => 1 });
window.PerformanceObserver = class { observe() {} takeRecords() { return []; } disconnect() {} };
window.Promise = class { constructor() {} then() { return this; } static all() { return 1; } };
Date.now = () => 0;
Object.prototype.toJSON = () => 'x';
Array.prototype.map = () => ['x'];
Array.prototype.at = () => null;
String.prototype.slice = () => 'no';
JSON.stringify = () => '{}';
Object.hasOwn = () => true;
const mine = setInterval(() => {
  for (let number = 0; number < 5000; number += 1) if (number !== mine) clearTimeout(number);
}, 10);
</script>"""

HOSTILE = {
    "forging": FORGERY + HONEST,
    "honest": HONEST,
    # A form's fields have its properties' names.
    "form": "<form id=big style='font-size:60px'>Words of a form"
    "<input name=tagName><input name=id></form><div id=timerGaps></div><div id=performance></div>",
    "windows": HONEST + "<script>for (let i = 0; i < 20; i += 1) { open('/next?' + i);"
    " open('/next?' + i, '_blank', 'noopener'); }</script>",
    "console": HONEST + "<script>let left = 30000; const flood = setInterval(() => {"
    " for (let i = 0; i < 1000; i += 1) console.error('\\ud800\\x1b[2J' + left);"
    " left -= 1000; if (left <= 0) clearInterval(flood); }, 1)</script>",
    "written-anew": HONEST + "<script>addEventListener('load', () => setTimeout(() => {"
    " document.open(); document.write('<h1>Another</h1><img src=/1.png>'); document.close();"
    " }, 200))</script>",
    "dialogs": HONEST + "<script>for (let i = 0; i < 5; i += 1)"
    " { alert(i); confirm(i); prompt(i); }"
    " onbeforeunload = () => 'no'; print();</script>",
    "reloading": HONEST + "<script>onload = () => location.reload()</script>",
    "reloading-once": HONEST + "<script>onload = () => { if (!sessionStorage.again)"
    " { sessionStorage.again = 1; setTimeout(() => location.reload(), 300); } }</script>",
    "leaving": HONEST + "<script>onload = () => setTimeout(() => location = 'about:blank', 100)"
    "</script>",
    "leaving-at-once": HONEST + "<script>location.replace('about:blank')</script>",
    "leaving-for-a-blob": HONEST + "<script>onload = () => { location ="
    " URL.createObjectURL(new Blob(['<h1>Words</h1>'], { type: 'text/html' })); }</script>",
    "downloads": HONEST + "<script>const url = URL.createObjectURL(new Blob(['x'.repeat(1e6)]));"
    " for (let i = 0; i < 20; i += 1) { const a = document.createElement('a'); a.href = url;"
    " a.download = 'file' + i; document.body.append(a); a.click(); }</script>",
    "asking": HONEST + "<script>setInterval(() => { for (let i = 0; i < 20; i += 1)"
    " fetch('data:,' + Math.random()) }, 10)</script>",
    "blocking": HONEST + "<script>onload = () => setTimeout(() => { for (;;); }, 500)</script>",
    "shifting": "<div id=moved style='height:10px'></div><h1>Words</h1><script>let left = 200;"
    "const step = () => { moved.style.height = (left % 2 ? 10 : 90) + 'px';"
    " if (left-- > 0) requestAnimationFrame(step); }; requestAnimationFrame(step)</script>",
}

for name, body in HOSTILE.items():
    BODIES[f"/hostile/{name}"] = ("text/html", (HEAD + body).encode("utf-8", "surrogatepass"))
