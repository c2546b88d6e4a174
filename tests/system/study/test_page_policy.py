"""What the policy of our pages refuses in real browsers: nothing of ours, all that is put in."""

import pytest
from page_visits import BROWSERS, Visits
from written_pages import PAGES

DRAWN = "!document.querySelector('.chart') || document.querySelector('.chart svg') !== null"
"""One chart, if there are any: those in what is closed are drawn when it is opened."""
WHOLE = """(() => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  const places = [...document.querySelectorAll(".chart, .drawing")].filter((place) =>
    !place.closest("[hidden]"));
  return places.every((place) => place.querySelector("svg"));
})()"""
"""Opens all that is closed; true once all charts in it are drawn."""

END = "</main>"
PUT_IN = {
    "a script": ("<script>window.ran = 1</script>", "script-src-elem"),
    "a script from elsewhere": ('<script src="data:,window.ran=1"></script>', "script-src-elem"),
    "a handler": ('<img src="data:," alt="" onerror="window.ran = 1">', "script-src-attr"),
    "a style": ("<style>main { color: red; window: 1 }</style>", "style-src-elem"),
    "a style of one element": ('<p style="color: red">text</p>', "style-src-attr"),
    "a picture from elsewhere": ('<img src="http://127.0.0.1:9/" alt="">', "img-src"),
    "another page": ('<iframe src="data:text/html,text"></iframe>', "frame-src"),
    "an object": ('<object data="data:text/html,text"></object>', "object-src"),
    "another base": ('<base href="http://127.0.0.1:9/">', "base-uri"),
}
"""What is put into a page, and the directive that refuses it."""

TEXT_AS_CODE = """new Promise((done) => setTimeout(() => {
  try { done(Function("return 'ran'")()); } catch { done("refused"); }
}))"""
"""In a task of its own: what a debugger evaluates may make code of text."""

SENT = """(() => {
  const form = document.createElement("form");
  form.action = "http://127.0.0.1:9/";
  document.body.append(form);
  try { form.submit(); } catch { /* Firefox throws, too */ }
  return true;
})()"""

JAVASCRIPT_LINK = """(() => {
  const link = document.createElement("a");
  link.href = "javascript:void(window.ran = 1)";
  document.body.append(link);
  link.click();
  return true;
})()"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return {name: write(tmp_path_factory.mktemp("page")) for name, write in PAGES.items()}


@pytest.fixture(scope="module", params=BROWSERS)
def visits(request):
    with BROWSERS[request.param]() as found:
        yield found


@pytest.mark.parametrize("kind", PAGES)
def test_nothing_of_a_page_is_refused(visits: Visits, pages, kind):
    visits.open(pages[kind], DRAWN)
    visits.wait(WHOLE)
    marks = "[...document.querySelectorAll('svg [aria-roledescription]')]"
    moved = f"{marks}.forEach(e => e.dispatchEvent(new MouseEvent('mousemove', {{bubbles: true}})))"
    visits.value(f"({moved}, true)")
    assert visits.refused() == []
    assert visits.logged == []


@pytest.mark.parametrize("what", PUT_IN)
def test_what_is_put_into_a_page_is_refused_and_does_not_run(visits: Visits, pages, tmp_path, what):
    markup, directive = PUT_IN[what]
    text = pages["report"].read_text(encoding="utf-8")
    changed = tmp_path / "changed.html"
    changed.write_text(text.replace(END, markup + END, 1), encoding="utf-8")
    visits.open(changed, DRAWN)
    visits.wait("window.refused.length > 0")
    assert visits.refused() == [directive]
    assert visits.value("window.ran ?? 'not'") == "not"
    red = "getComputedStyle(document.querySelector('main')).color === 'rgb(255, 0, 0)'"
    assert visits.value(red) is False


def test_a_script_of_ours_that_was_changed_does_not_run(visits: Visits, pages, tmp_path):
    text = pages["report"].read_text(encoding="utf-8")
    ours = "function csvOf(table) {"
    assert text.count(ours) == 1
    changed = tmp_path / "changed.html"
    changed.write_text(text.replace(ours, ours + " window.ran = 1;"), encoding="utf-8")
    visits.open(changed, DRAWN)
    assert visits.refused() == ["script-src-elem"]
    assert visits.value("document.querySelectorAll('button.export').length") == 0


def test_no_text_becomes_code_and_no_form_is_sent(visits: Visits, pages):
    visits.open(pages["report"], DRAWN)
    assert visits.value(TEXT_AS_CODE) == "refused"
    visits.value(JAVASCRIPT_LINK)
    visits.value(SENT)
    visits.wait("window.refused.length === 3")
    # Two tasks tell of the link and of the form: Firefox runs them in either order.
    assert sorted(visits.refused()) == ["form-action", "script-src", "script-src-elem"]
    assert visits.value("window.ran ?? 'not'") == "not"
