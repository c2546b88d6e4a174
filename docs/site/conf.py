"""How Sphinx makes the site of what scripts/docs/docs_site.py lays for it."""

project = "eyelevel"
author = "the eyelevel authors"
copyright = author
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = "eyelevel"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
# Summaries are asked for page by page, which a browser forbids to a page opened from a file.
html_show_search_summary = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

myst_heading_anchors = 4
# Indented blocks are what programs print.
highlight_language = "text"
# Two hyphens begin an option: they are no dash.
smartquotes = False
default_role = "code"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
