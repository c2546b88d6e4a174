import pytest

from eyelevel.sites.rendering import only_scripts_below

PAGE, SCRIPT = "https://a.example/page/", "https://a.example/page/base.js"


@pytest.mark.parametrize(
    ("below", "only"),
    [
        ("", True),
        ("</body></html>\n", True),
        ("<!-- the end --><script>set(1)</script><style>p{}</style>", True),
        ("<noscript><img src=x></noscript><template><p>x</p></template>", True),
        ("<script>'<p>'</script>", True),
        ("<p>", False),
        ("text", False),
        ("<script></script>text", False),
        ("<img src=a.png>", False),
    ],
)
def test_what_stands_below_a_script(below: str, only: bool) -> None:
    markup = f"<html><body><p>above</p><script src=' base.js'></script>{below}"
    assert only_scripts_below(markup, PAGE, SCRIPT) is only


def test_a_script_that_the_markup_lacks_has_nothing_known_below_it() -> None:
    markup = "<script src=other.js></script><script>'base.js'</script>"
    assert not only_scripts_below(markup, PAGE, SCRIPT)
