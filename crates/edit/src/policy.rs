//! Content security policies: permits inline scripts and styles that an edit added by their hashes
//! (CSP Level 3, section 6.7).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The content of an inline element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Inline {
    /// The kind of element.
    pub kind: Kind,
    /// The text with line ends as a parser returns them.
    pub text: String,
    /// The element's nonce.
    pub nonce: Option<String>,
}

/// The kinds of elements that a policy may restrict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `<script>` without `src`.
    Script,
    /// `<style>`.
    Style,
}

impl Kind {
    /// Returns the directives that restrict this kind; the first that a policy has applies.
    fn directives(self) -> [&'static str; 3] {
        match self {
            Kind::Script => ["script-src-elem", "script-src", "default-src"],
            Kind::Style => ["style-src-elem", "style-src", "default-src"],
        }
    }
}

/// Adds to policies the hash of each of `added` that they would refuse; returns the policies and
/// the number of hashes, or `None` if there are none to add.
pub fn permit(policies: &str, added: &[&Inline]) -> Option<(String, usize)> {
    let mut hashes = 0;
    let permitted: Vec<String> = policies
        .split(',')
        .map(|policy| {
            let mut policy = policy.to_owned();
            for inline in added {
                if let Some(wider) = permit_one(&policy, inline) {
                    policy = wider;
                    hashes += 1;
                }
            }
            policy
        })
        .collect();
    (hashes > 0).then(|| (permitted.join(","), hashes))
}

/// Returns the policy with the inline text's hash, if it refuses it so far.
fn permit_one(policy: &str, inline: &Inline) -> Option<String> {
    let directives: Vec<&str> = policy.split(';').collect();
    let name_of = |directive: &str| directive.split_ascii_whitespace().next().map(str::to_owned);
    let position = inline.kind.directives().iter().find_map(|wanted| {
        directives
            .iter()
            .position(|each| name_of(each).is_some_and(|name| name.eq_ignore_ascii_case(wanted)))
    })?;
    let mut words = directives[position].split_ascii_whitespace();
    let name = words.next()?;
    let sources: Vec<&str> = words.collect();
    let digest = STANDARD.encode(Sha256::digest(&inline.text));
    let hash = format!("'sha256-{digest}'");
    let nonce = inline
        .nonce
        .as_ref()
        .map(|nonce| format!("'nonce-{nonce}'"));
    if is_permitted(&sources, &hash, nonce.as_deref()) {
        return None;
    }
    let kept = sources
        .iter()
        .filter(|source| !source.eq_ignore_ascii_case("'none'"));
    let directive: Vec<&str> = std::iter::once(name)
        .chain(kept.copied())
        .chain(std::iter::once(&*hash))
        .collect();
    let blank = if directives[position].starts_with(' ') {
        " "
    } else {
        ""
    };
    let directive = format!("{blank}{}", directive.join(" "));
    let mut wider = directives;
    wider[position] = &directive;
    Some(wider.join(";"))
}

fn is_permitted(sources: &[&str], hash: &str, nonce: Option<&str>) -> bool {
    let has = |wanted: &str| {
        sources
            .iter()
            .any(|source| source.eq_ignore_ascii_case(wanted))
    };
    let is_hash_or_nonce = |source: &&str| {
        let source = source.to_ascii_lowercase();
        ["'sha256-", "'sha384-", "'sha512-", "'nonce-"]
            .iter()
            .any(|it| source.starts_with(it))
    };
    let is_unsafe_ignored = sources.iter().any(is_hash_or_nonce) || has("'strict-dynamic'");
    (has("'unsafe-inline'") && !is_unsafe_ignored)
        || sources.contains(&hash)
        || nonce.is_some_and(|nonce| sources.contains(&nonce))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permit_text(policies: &str, kind: Kind, nonce: Option<&str>) -> Option<String> {
        let inline = Inline {
            kind,
            text: "x".to_owned(),
            nonce: nonce.map(str::to_owned),
        };
        permit(policies, &[&inline]).map(|(policies, _)| policies)
    }

    #[test]
    fn refused_texts_get_their_hash() {
        // printf x | openssl dgst -sha256 -binary | base64
        let hash = "'sha256-LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE='";
        for (policy, kind, expected) in [
            (
                "script-src 'self'",
                Kind::Script,
                Some(format!("script-src 'self' {hash}")),
            ),
            ("script-src 'self'", Kind::Style, None),
            (
                "default-src 'none'",
                Kind::Style,
                Some(format!("default-src {hash}")),
            ),
            ("script-src 'unsafe-inline'", Kind::Script, None),
            (
                "script-src 'unsafe-inline' 'nonce-a'",
                Kind::Script,
                Some(format!("script-src 'unsafe-inline' 'nonce-a' {hash}")),
            ),
            (
                "default-src 'self'; Script-Src a.test; img-src *",
                Kind::Script,
                Some(format!(
                    "default-src 'self'; Script-Src a.test {hash}; img-src *"
                )),
            ),
            (
                "script-src a; script-src-elem b",
                Kind::Script,
                Some(format!("script-src a; script-src-elem b {hash}")),
            ),
            (
                "img-src *, script-src b",
                Kind::Script,
                Some(format!("img-src *, script-src b {hash}")),
            ),
            ("upgrade-insecure-requests", Kind::Script, None),
        ] {
            assert_eq!(permit_text(policy, kind, None), expected, "{policy}");
        }
        assert_eq!(
            permit_text("script-src 'nonce-a'", Kind::Script, Some("a")),
            None
        );
        assert!(permit_text("script-src 'nonce-a'", Kind::Script, Some("b")).is_some());
        let once = permit_text("script-src 'self'", Kind::Script, None).unwrap();
        assert_eq!(permit_text(&once, Kind::Script, None), None);
    }
}
