//! Replaces names of the local origin in a stream of bytes; pure.

use bytes::{Bytes, BytesMut};

/// What is replaced by what: URLs of a server on this machine by the same at the origin that the
/// browser sees.
#[derive(Clone, Debug)]
pub struct Names(Vec<Name>);

#[derive(Clone, Debug)]
struct Name {
    local: Vec<u8>,
    public: Vec<u8>,
    ends_with_port: bool,
}

impl Names {
    /// `authorities` of the server on this machine, all of `http`; `public` is the browser's
    /// authority, of `scheme`.
    pub fn new<'a>(
        authorities: impl IntoIterator<Item = &'a str>,
        scheme: &str,
        public: &str,
    ) -> Self {
        let mut names = Vec::new();
        for authority in authorities {
            // As in a URL, in one without a scheme, and in both where JSON escapes slashes.
            for slashes in ["//", "\\/\\/"] {
                for (from, to) in [("http:", format!("{scheme}:")), ("", String::new())] {
                    names.push(Name {
                        local: format!("{from}{slashes}{authority}").into_bytes(),
                        public: format!("{to}{slashes}{public}").into_bytes(),
                        ends_with_port: has_port(authority),
                    });
                }
            }
        }
        let mut names = Self(names);
        names.sort();
        names
    }

    /// Adds the authorities by themselves.
    pub fn add_hosts<'a>(&mut self, authorities: impl IntoIterator<Item = &'a str>, public: &str) {
        self.0.extend(authorities.into_iter().map(|authority| Name {
            local: authority.into(),
            public: public.into(),
            ends_with_port: has_port(authority),
        }));
        self.sort();
    }

    /// Of two that begin alike the longer one counts.
    fn sort(&mut self) {
        self.0
            .sort_by_key(|name| std::cmp::Reverse(name.local.len()));
    }

    /// What there is at the beginning of `bytes`; `is_end`: nothing follows them.
    fn at(&self, bytes: &[u8], is_end: bool) -> At<'_> {
        let first = bytes.first();
        let mut at = At::Nothing;
        for name in self.0.iter().filter(|name| name.local.first() == first) {
            let local = &name.local[..];
            if let Some(rest) = bytes.strip_prefix(local) {
                match rest.first() {
                    Some(next) if name.goes_on_with(*next) => {}
                    None if !is_end => return At::Beginning,
                    _ => return At::Name(name),
                }
            } else if !is_end && local.starts_with(bytes) {
                at = At::Beginning;
            }
        }
        at
    }
}

/// Whether an authority says its port.
pub(super) fn has_port(authority: &str) -> bool {
    let port = authority.rsplit_once(':').map(|(_, port)| port);
    port.is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Name {
    /// Whether a longer name begins so: `localhost:30` is no part of `localhost:3000`.
    fn goes_on_with(&self, next: u8) -> bool {
        if self.ends_with_port {
            next.is_ascii_digit()
        } else {
            next.is_ascii_alphanumeric() || matches!(next, b'.' | b'-' | b':')
        }
    }
}

enum At<'a> {
    Nothing,
    /// A name may begin here; what follows decides.
    Beginning,
    Name(&'a Name),
}

/// One stream. It holds back at most the bytes of a name, and only where one may have begun.
#[derive(Debug)]
pub struct Rewriter {
    names: Names,
    held: Bytes,
    replaced: u64,
}

impl Rewriter {
    /// At the beginning of a stream.
    pub fn new(names: Names) -> Self {
        Self {
            names,
            held: Bytes::new(),
            replaced: 0,
        }
    }

    /// What can go on after these bytes came.
    pub fn feed(&mut self, bytes: Bytes) -> Bytes {
        self.run(bytes, false)
    }

    /// What is left at the end.
    pub fn finish(&mut self) -> Bytes {
        self.run(Bytes::new(), true)
    }

    /// Names replaced so far.
    pub fn replaced(&self) -> u64 {
        self.replaced
    }

    fn run(&mut self, bytes: Bytes, is_end: bool) -> Bytes {
        let bytes = if self.held.is_empty() {
            bytes
        } else {
            let mut whole = BytesMut::from(&std::mem::take(&mut self.held)[..]);
            whole.extend_from_slice(&bytes);
            whole.freeze()
        };
        let mut out = BytesMut::new();
        let (mut from, mut at) = (0, 0);
        while at < bytes.len() {
            match self.names.at(&bytes[at..], is_end) {
                At::Nothing => at += 1,
                At::Beginning => {
                    self.held = bytes.slice(at..);
                    break;
                }
                At::Name(name) => {
                    out.extend_from_slice(&bytes[from..at]);
                    out.extend_from_slice(&name.public);
                    at += name.local.len();
                    from = at;
                    self.replaced += 1;
                }
            }
        }
        if out.is_empty() {
            return bytes.slice(from..at);
        }
        out.extend_from_slice(&bytes[from..at]);
        out.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names() -> Names {
        Names::new(["localhost:3000", "127.0.0.1:3000"], "https", "shop.test")
    }

    fn rewritten(text: &str, sizes: &[usize]) -> (String, u64) {
        let mut rewriter = Rewriter::new(names());
        let (mut out, mut rest) = (Vec::new(), text.as_bytes());
        let mut sizes = sizes.iter().cycle();
        while !rest.is_empty() {
            let (now, later) = rest.split_at((*sizes.next().unwrap()).clamp(1, rest.len()));
            out.extend_from_slice(&rewriter.feed(Bytes::copy_from_slice(now)));
            rest = later;
        }
        out.extend_from_slice(&rewriter.finish());
        (String::from_utf8(out).unwrap(), rewriter.replaced())
    }

    #[test]
    fn every_form_of_the_local_origin_is_replaced_and_no_other() {
        for (text, right, count) in [
            (
                "<a href=http://localhost:3000/a>",
                "<a href=https://shop.test/a>",
                1,
            ),
            ("http://localhost:3000", "https://shop.test", 1),
            ("src='//127.0.0.1:3000/b'", "src='//shop.test/b'", 1),
            (
                r#"{"u":"http:\/\/localhost:3000\/c"}"#,
                r#"{"u":"https:\/\/shop.test\/c"}"#,
                1,
            ),
            ("http://localhost:30001/", "http://localhost:30001/", 0),
            (
                "http://localhost/ localhost:3000",
                "http://localhost/ localhost:3000",
                0,
            ),
            ("http://localhost:300", "http://localhost:300", 0),
            (
                "xhttp://localhost:3000//localhost:3000",
                "xhttps://shop.test//shop.test",
                2,
            ),
        ] {
            for size in [1, 2, 7, 1000] {
                assert_eq!(
                    rewritten(text, &[size]),
                    (right.into(), count),
                    "{text} by {size}"
                );
            }
        }
    }

    #[test]
    fn without_a_port_a_longer_host_or_a_port_is_another_origin() {
        let names = Names::new(["localhost", "localhost:80"], "https", "shop.test:8443");
        let mut rewriter = Rewriter::new(names);
        let text = "http://localhost/ http://localhost:80/ http://localhost:8000/ http://localhost.example/";
        let mut out = rewriter.feed(Bytes::from_static(text.as_bytes())).to_vec();
        out.extend_from_slice(&rewriter.finish());
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "https://shop.test:8443/ https://shop.test:8443/ http://localhost:8000/ http://localhost.example/"
        );
    }

    #[test]
    fn bytes_in_which_no_name_can_have_begun_go_on_at_once() {
        let mut rewriter = Rewriter::new(names());
        assert_eq!(rewriter.feed(Bytes::from_static(b"<p>a</p>")), "<p>a</p>");
        assert_eq!(rewriter.feed(Bytes::from_static(b"<p>http://l")), "<p>");
        assert_eq!(rewriter.feed(Bytes::from_static(b"ink")), "http://link");
    }

    proptest! {
        #[test]
        fn how_the_bytes_come_does_not_matter(
            parts in proptest::collection::vec("(http:|//|\\\\/\\\\/|localhost|:3000|127.0.0.1|[0-9a/]|é){1}", 0..40),
            sizes in proptest::collection::vec(1usize..20, 1..8),
        ) {
            let text = parts.concat();
            prop_assert_eq!(rewritten(&text, &sizes), rewritten(&text, &[usize::MAX]));
        }
    }
}
