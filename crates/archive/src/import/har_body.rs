//! The bodies of a HAR: which bytes an entry's `content` stands for, and whether they are all there.
//!
//! HAR 1.2 has a text, or base64 where `encoding` says so, and the size of what was decoded. Writers
//! leave bodies out, cut them off, and forget or invent the `encoding`; the size tells.

use super::har_log::Content;
use crate::base64;
use crate::coding;
use crate::exchange::header::{self, Header};

/// The comment of a body whose coding this project's exporter could not undo.
pub const AS_SENT: &str = "as sent, content coding kept";

/// Media types of texts, which a HAR holds in Unicode; of `+xml`, `+json` and those with
/// `charset=`, too.
const TEXT_TYPES: [&str; 11] = [
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/json",
    "application/manifest",
    "application/rtf",
    "application/sql",
    "application/x-javascript",
    "application/x-www-form-urlencoded",
    "application/xml",
    "text/",
];
/// The mark that begins a text in UTF-8 counts for its size, and writers take it away.
const BOM_BYTES: i64 = 3;

/// A body as it stands in the HAR.
#[derive(Debug, PartialEq, Eq)]
pub struct Body {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What they are.
    pub form: Form,
}

/// What a HAR's body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A text, whose bytes are UTF-8 whatever was sent.
    Text,
    /// The bytes, without a content coding.
    Bytes,
    /// The bytes as they were sent, in their content coding.
    AsSent,
    /// The bytes, which the HAR holds in another way than it says.
    Mended,
    /// None, where none is needed: a redirect's.
    NotThere,
}

/// Reads the body of one entry.
pub struct BodyReader<'a> {
    /// The response's fields.
    pub headers: &'a [Header],
    /// Whether its status and the method have a body that matters.
    pub is_needed: bool,
    /// What may be taken for looking into it, bytes.
    pub bytes_max: u64,
}

impl BodyReader<'_> {
    /// The body; the error is why the entry cannot be replayed.
    pub fn read(&self, content: Option<&Content<'_>>) -> Result<Body, String> {
        let declared = header::find(self.headers, "content-length");
        let declared: Option<u64> = declared.and_then(|text| text.trim().parse().ok());
        let Some(content) = content else {
            // Whoever has nothing to write leaves it out, too; a type is that of something.
            let has_type = header::find(self.headers, "content-type").is_some();
            return self.without_text(declared.map_or(!has_type, |bytes| bytes == 0));
        };
        let size = content.size.integer().filter(|size| *size >= 0);
        let Some(text) = content.text.text() else {
            if !content.text.is_absent() {
                return Err("its body is no text".to_owned());
            }
            return self.without_text(declared.map_or(size == Some(0), |bytes| bytes == 0));
        };
        if text.is_empty() && self.is_needed && (size > Some(0) || declared > Some(0)) {
            return Err(NO_BODY.to_owned());
        }
        let encoding = content.encoding.text().unwrap_or_default();
        if !encoding.trim().eq_ignore_ascii_case("base64") {
            return of_text(text, size, media_type(content, self.headers).as_deref());
        }
        let letters = text.len() as i64;
        // Firefox says base64 of some texts.
        let plain = (size == Some(letters)).then(|| text.clone());
        let Some(bytes) = base64::decode(text) else {
            let plain = plain.ok_or("its body is not the base64 that it says")?;
            return Ok(Form::Mended.of(plain.into_bytes()));
        };
        let is_as_sent = content.comment.text().as_deref() == Some(AS_SENT);
        if is_as_sent || self.is_still_coded(&bytes, size) {
            return Ok(Form::AsSent.of(bytes));
        }
        // Some writers count the letters.
        if size.is_some_and(|size| size > bytes.len() as i64 && size != letters) {
            return Err(incomplete(bytes.len(), size));
        }
        Ok(Form::Bytes.of(bytes))
    }

    fn without_text(&self, is_empty: bool) -> Result<Body, String> {
        match (is_empty, self.is_needed) {
            (true, _) => Ok(Form::Bytes.of(Vec::new())),
            (false, true) => Err(NO_BODY.to_owned()),
            (false, false) => Ok(Form::NotThere.of(Vec::new())),
        }
    }

    /// Whether a body still has the content coding that its fields name, though a HAR holds bodies
    /// without it: BrowserMob Proxy writes what was sent, and its size. It can be undone as a whole,
    /// and is no file that was compressed before it was sent.
    fn is_still_coded(&self, bytes: &[u8], size: Option<i64>) -> bool {
        let names = header::find(self.headers, "content-encoding").unwrap_or("");
        if bytes.is_empty() || coding::is_identity(names) {
            return false;
        }
        let Some(Ok(decoded)) = coding::decode(names, bytes, self.bytes_max) else {
            return false;
        };
        if size == Some(decoded.len() as i64) {
            return true;
        }
        if !MARKS.iter().any(|mark| bytes.starts_with(mark)) {
            // A few letters may be brotli by chance, which itself is hardly ever a text.
            return !decoded.is_empty() && std::str::from_utf8(bytes).is_err();
        }
        let kind = header::find(self.headers, "content-type").unwrap_or("");
        let is_compressed_file = ["gzip", "octet-stream", "zstd", "x-tar"];
        let is_compressed_file = is_compressed_file.iter().any(|part| kind.contains(part));
        size != Some(bytes.len() as i64) || !is_compressed_file
    }
}

impl Form {
    fn of(self, bytes: Vec<u8>) -> Body {
        Body { bytes, form: self }
    }
}

/// How gzip and zstd begin.
const MARKS: [&[u8]; 2] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];
const NO_BODY: &str = "the HAR has no body for it; export it with bodies";

fn incomplete(found: usize, size: Option<i64>) -> String {
    let size = size.unwrap_or_default();
    format!("its body has {found} of {size} bytes; export it with whole bodies")
}

/// The bytes of what is said to be a text: the size tells where it is base64, or where each
/// character stands for a byte.
fn of_text(text: String, size: Option<i64>, media_type: Option<&str>) -> Result<Body, String> {
    let bytes = text.len() as i64;
    let Some(size) = size.filter(|&size| size > 0 && size != bytes) else {
        return Ok(Form::Text.of(text.into_bytes()));
    };
    // Four letters are three bytes, and some are line ends.
    let may_be_base64 = (bytes / 4..=bytes / 4 * 3 + 3).contains(&size);
    let is_whole = |decoded: &Vec<u8>| decoded.len() as i64 == size;
    if may_be_base64 && let Some(decoded) = base64::decode(text.clone()).filter(is_whole) {
        return Ok(Form::Mended.of(decoded));
    }
    if media_type.is_none_or(is_text_type) {
        let units = text.encode_utf16().count() as i64;
        let lines = text.bytes().filter(|&byte| byte == b'\n').count() as i64;
        let is_utf16 = size == 2 * units || size == 2 * units + 2;
        // Encodings other than UTF-16 take no more bytes for a character than UTF-8; a line end may
        // have lost its CR.
        if size > bytes + BOM_BYTES + lines && !is_utf16 {
            return Err(incomplete(text.len(), Some(size)));
        }
        return Ok(Form::Text.of(text.into_bytes()));
    }
    let letters = text.chars().map(|letter| u8::try_from(letter).ok());
    let latin1: Option<Vec<u8>> = letters.collect();
    let latin1 = latin1.filter(is_whole).ok_or_else(|| {
        format!("its body is no text, but stands as one of {bytes} bytes, and had {size}")
    })?;
    Ok(Form::Mended.of(latin1))
}

/// The response's media type without its parameters, in lower case; none where nothing says it.
fn media_type(content: &Content<'_>, headers: &[Header]) -> Option<String> {
    let field = header::find(headers, "content-type").map(str::to_owned);
    let named = field.or_else(|| content.mime_type.text())?;
    let kind = named.split(';').next()?.trim().to_ascii_lowercase();
    (kind.contains('/') && kind != "x-unknown").then_some(kind)
}

/// Whether bodies of a media type, in lower case and without parameters, are texts.
pub fn is_text_type(kind: &str) -> bool {
    let is_text = |text: &&str| kind.starts_with(*text);
    TEXT_TYPES.iter().any(is_text) || kind.ends_with("+xml") || kind.ends_with("+json")
}
