"""Keep the text cursor from blinking: a focused field would repaint twice a second for ever.

Such a page is never quiet, its loads end at the cap, and its Last Visual Change is the cap,
whatever the stack (seen on the recorded front page of Wikipedia, whose search field takes the
focus).
"""

# A constructed style sheet leaves the document's own nodes and sheets as they are; the cursor stays
# visible (CSS UI 4, `caret-animation`).
STEADY_CARET_SCRIPT = """(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('* { caret-animation: manual !important }');
  document.adoptedStyleSheets.push(sheet);
})();"""
