//! Pages in other charsets are edited in these, without damage.

use crate::support::{PAGE, answer, apply_edits, edit, expect_refusal};
use eyelevel_edit::Action;

fn utf_16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn insertions_are_in_the_pages_charset() {
    let insert = || edit(Action::InsertHead("<meta content=\"ä\">".to_owned()));
    for (kind, before, after) in [
        (
            "text/html; charset=windows-1252",
            &b"<head>\xe4"[..],
            &b"<head><meta content=\"\xe4\">\xe4"[..],
        ),
        (
            "text/html",
            b"<head><meta charset=latin1>\xe4",
            b"<head><meta charset=latin1><meta content=\"\xe4\">\xe4",
        ),
        (
            "text/html",
            b"<head>\xe4\xff",
            b"<head><meta content=\"\xe4\">\xe4\xff",
        ),
        (
            "text/html; charset=utf-8",
            b"<head>\xff",
            b"<head><meta content=\"\xc3\xa4\">\xff",
        ),
    ] {
        let done = apply_edits(&[answer(PAGE, kind, before)], &[insert()]);
        assert_eq!(&done.exchanges[0].body[..], after, "{kind}");
    }
}

#[test]
fn utf_16_stays_utf_16() {
    let before = utf_16("\u{feff}<head><title>\u{4e00}\u{1f600}</title>");
    let done = apply_edits(
        &[answer(PAGE, "text/html", &before)],
        &[edit(Action::InsertHead("<meta content=\"ä\">".to_owned()))],
    );
    let after = utf_16("\u{feff}<head><meta content=\"ä\"><title>\u{4e00}\u{1f600}</title>");
    assert_eq!(&done.exchanges[0].body[..], after);
}

#[test]
fn undecodable_objects_are_refused_with_their_url() {
    let insert = |text: &str| edit(Action::InsertHead(text.to_owned()));
    let odd = answer(PAGE, "text/html; charset=utf-16", b"<\0p");
    assert!(expect_refusal(&[odd], insert("x")).contains("UTF-16LE"));
    let latin = answer(PAGE, "text/html; charset=latin1", b"<head>");
    let said = expect_refusal(&[latin], insert("\u{4e00}"));
    assert!(
        said.contains(PAGE) && said.contains("windows-1252 lacks"),
        "{said}"
    );
    let mut broken = answer(PAGE, "text/html", b"\x1f\x8bno gzip");
    broken
        .response_headers
        .push(eyelevel_archive::Header::new("Content-Encoding", "gzip"));
    let said = expect_refusal(&[broken], insert("x"));
    assert!(
        said.contains(PAGE) && said.contains("cannot be decoded"),
        "{said}"
    );
}
