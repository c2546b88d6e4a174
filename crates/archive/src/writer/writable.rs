//! Checks which exchanges a WARC file can hold so that they read back unchanged.

use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::url::Url;
use crate::warc::http1;

/// Checks that the exchange can be written so that it reads back unchanged; the error states why
/// not.
pub fn check_writable(exchange: &Exchange) -> Result<(), String> {
    let url = exchange.url.to_string();
    if url.parse::<Url>().as_ref() != Ok(&exchange.url) {
        return Err(format!(
            "its URL {url} is not in the form that parsing gives"
        ));
    }
    if !(200..=999).contains(&exchange.status) {
        return Err(format!(
            "{url} has the status {}, not one of 200 to 999",
            exchange.status
        ));
    }
    http1::parse_method(&format!("{} / HTTP/1.1", exchange.method))
        .ok()
        .filter(|method| *method == exchange.method)
        .ok_or_else(|| format!("{url} has the method `{}`", exchange.method))?;
    let reason_is_line = exchange
        .reason
        .bytes()
        .all(|byte| byte >= b' ' && byte != 0x7f);
    if !reason_is_line || exchange.reason.trim() != exchange.reason {
        return Err(format!(
            "the reason phrase of {url} is not one line of text"
        ));
    }
    if !matches!(&*exchange.protocol, "http/1.0" | "http/1.1" | "h2" | "h3") {
        return Err(format!(
            "{url} has the unknown protocol `{}`",
            exchange.protocol
        ));
    }
    if exchange
        .time_to_first_byte_ms
        .is_some_and(|value| !value.is_finite())
    {
        return Err(format!("the time to first byte of {url} is not finite"));
    }
    let is_text = |text: &String| text.bytes().all(|byte| byte > b' ' && byte != 0x7f);
    if !exchange.initiator.as_ref().is_none_or(is_text) {
        return Err(format!("the initiator of {url} is no URL"));
    }
    let headers = exchange
        .request_headers
        .iter()
        .chain(&exchange.response_headers);
    match headers.clone().find(|header| !is_writable(header)) {
        Some(header) => Err(format!(
            "the field `{}` of {url} is not one line",
            header.name
        )),
        None => Ok(()),
    }
}

fn is_writable(header: &Header) -> bool {
    let (name, value) = (header.name.as_bytes(), &header.value);
    let has_no_break = |bytes: &[u8]| !bytes.iter().any(|byte| b"\r\n\0".contains(byte));
    !name.is_empty()
        && name.trim_ascii() == name
        && value.trim_ascii() == &value[..]
        && !name.contains(&b':')
        && has_no_break(name)
        && has_no_break(value)
}
