use crate::targets::check_message;
use eyelevel_archive::Scheme;
use eyelevel_recorder::Reach;
use eyelevel_recorder::wire::{Target, check_authority};
use http::{HeaderValue, Request};

/// Checks the authority of a request. The lines are the server of a client's tunnel as `HOST:PORT`,
/// the URI of a request in it, and its `Host` fields. An accepted request names only that server,
/// letter by letter. The first line is also passed to `--allow`.
pub(crate) fn run(input: &[u8]) {
    let mut lines = input.split(|byte| *byte == b'\n');
    let first = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    if let Err(refused) = Reach::default().allow(&first) {
        check_message(&refused);
    }
    let Some((host, port)) = first.rsplit_once(':') else {
        return;
    };
    let Ok(port) = port.parse() else {
        return;
    };
    let target = Target {
        scheme: [Scheme::Https, Scheme::Http][usize::from(port == 80)],
        host: host.trim_matches(['[', ']']).to_owned(),
        port,
    };
    let mut request = Request::builder().uri(lines.next().unwrap_or_default());
    let mut named = Vec::new();
    for field in lines.take(5) {
        let Ok(value) = HeaderValue::from_bytes(field) else {
            continue;
        };
        named.push(String::from_utf8_lossy(field).into_owned());
        request = request.header("host", value);
    }
    let Ok(request) = request.body(()) else {
        return;
    };
    let authority = request.uri().authority();
    named.extend(authority.map(|authority| authority.as_str().to_owned()));
    match check_authority(&request, &target) {
        Err(other) => assert!(!other.contains('\n') && other.chars().count() <= 100),
        Ok(()) => assert!(
            named.iter().all(|each| names_only(each, &target)),
            "{named:?}"
        ),
    }
}

fn names_only(named: &str, target: &Target) -> bool {
    let host = |text: &str| {
        let text = text.strip_prefix('[').unwrap_or(text);
        let text = text.strip_suffix(']').unwrap_or(text);
        text.eq_ignore_ascii_case(&target.host)
    };
    let with_port = named
        .rsplit_once(':')
        .is_some_and(|(before, port)| host(before) && port.parse() == Ok(target.port));
    with_port || (host(named) && target.port == target.scheme.default_port())
}
