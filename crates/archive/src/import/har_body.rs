//! The bodies of a HAR: which bytes an entry's `content` represents, and whether they are complete.
//!
//! HAR 1.2 has a text, or base64 if `encoding` says so, and the size of the decoded body. Writers
//! leave bodies out, cut them off, and omit or misstate `encoding`; the size reveals this.

use super::har_log::Content;
use crate::base64;
use crate::coding;
use crate::exchange::header::{self, Header};
use crate::whole::parse_declared_length;

/// The comment on a body whose coding this project's exporter did not support.
pub const AS_SENT: &str = "as sent, content coding kept";

/// Media types of texts, which a HAR holds in Unicode; so are `+xml`, `+json` and types with
/// `charset=`.
const TEXT_TYPES: [&str; 17] = [
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/json",
    "application/manifest",
    "application/rtf",
    "application/sql",
    "application/toml",
    "application/vnd.apple.mpegurl",
    "application/x-javascript",
    "application/x-mpegurl",
    "application/x-ndjson",
    "application/x-www-form-urlencoded",
    "application/x-yaml",
    "application/xml",
    "application/yaml",
    "text/",
];
/// Magic numbers of files that are not text; MP4 and related formats have theirs after four bytes.
const FILE_MAGIC: [&[u8]; 17] = [
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF8",
    b"RIFF",
    b"\0\0\x01\0",
    b"wOFF",
    b"wOF2",
    b"OTTO",
    b"\0\x01\0\0",
    b"ID3",
    b"OggS",
    b"fLaC",
    b"\x1a\x45\xdf\xa3",
    b"%PDF-",
    b"PK\x03\x04",
    b"\0asm",
    b"\x1f\x8b",
];
/// The letters of base64 that show a file's magic number, and the offset of MP4's.
const BEGIN_LETTERS: usize = 64;
const MP4_MAGIC: &[u8] = b"ftyp";
const MP4_MAGIC_OFFSET: usize = 4;
/// The largest size of the head's first line and the framing of an empty body, bytes.
const FRAMING_BYTES_MAX: usize = 256;
/// The length of the UTF-8 byte order mark, which counts for the size but is removed by writers.
const BOM_BYTES: i64 = 3;

/// A body as the HAR holds it.
#[derive(Debug, PartialEq, Eq)]
pub struct Body {
    /// The body's bytes.
    pub bytes: Vec<u8>,
    /// The form of the bytes.
    pub form: Form,
}

/// The form of a HAR's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A text in UTF-8, whatever charset it was sent in.
    Text,
    /// The bytes without content coding.
    Bytes,
    /// The bytes as sent, in their content coding.
    AsSent,
    /// The bytes without content coding, recovered because the HAR misstates their encoding.
    Recovered,
    /// No body, where none is needed, as for a redirect.
    Missing,
}

/// A reader for the body of one entry.
pub struct BodyReader<'a> {
    /// The response's fields.
    pub headers: &'a [Header],
    /// Whether the status and the method imply a body that matters.
    pub is_needed: bool,
    /// The size on the wire that the writer counted, possibly with the head, bytes.
    pub sent_bytes: i64,
    /// The memory that may be used for inspecting the body, bytes.
    pub bytes_max: u64,
}

impl BodyReader<'_> {
    /// Reads the body; the error states why the entry cannot be replayed.
    pub fn read(&self, content: Option<&Content<'_>>) -> Result<Body, String> {
        let body = self.read_content(content)?;
        // A body that a recorder decoded differs in length from the declared one.
        let declared = self.declared_bytes().filter(|_| self.is_needed);
        let Some(declared) = declared.filter(|_| !self.is_recoded()) else {
            return Ok(body);
        };
        let declared = i64::try_from(declared).unwrap_or(i64::MAX);
        let text = std::str::from_utf8(&body.bytes).ok();
        let text = text.filter(|_| matches!(body.form, Form::Text | Form::Recovered));
        let found = body.bytes.len() as i64;
        if text.map_or(found < declared, |text| is_cut(text, declared)) {
            return Err(incomplete(body.bytes.len(), declared));
        }
        Ok(body)
    }

    /// Returns the body that `content` represents, without checking the declared length.
    fn read_content(&self, content: Option<&Content<'_>>) -> Result<Body, String> {
        let Some(content) = content else {
            return self.read_missing(None);
        };
        let size = content.size.integer().filter(|size| *size >= 0);
        let Some(text) = content.text.text() else {
            if !content.text.is_absent() {
                return Err("its body is no text".to_owned());
            }
            return self.read_missing(Some(content));
        };
        if text.is_empty() && self.is_needed {
            let head = self.headers.iter();
            let head = head.map(|header| header.name.len() + header.value.len() + 4);
            let head_bytes = head.sum::<usize>() + FRAMING_BYTES_MAX;
            let is_sent = self.sent_bytes > head_bytes as i64;
            if size > Some(0) || self.declared_bytes() > Some(0) || is_sent {
                return Err(NO_BODY.to_owned());
            }
        }
        let kind = media_type(content, self.headers);
        let encoding = content.encoding.text().unwrap_or_default();
        if !encoding.trim().eq_ignore_ascii_case("base64") {
            if let Some(sent) = self.read_coded(&text, size, kind.as_deref())? {
                return Ok(Form::AsSent.with_bytes(sent));
            }
            return decode_text(text, size, kind.as_deref());
        }
        let letters = text.len() as i64;
        // Firefox declares base64 for some texts that are not.
        let plain = (size == Some(letters)).then(|| text.clone());
        let Some(bytes) = base64::decode(text) else {
            let plain = plain.ok_or("its body is not the base64 that it says")?;
            return Ok(Form::Recovered.with_bytes(plain.into_bytes()));
        };
        let is_as_sent = content.comment.text().as_deref() == Some(AS_SENT);
        if is_as_sent || self.is_still_coded(&bytes, size) {
            return Ok(Form::AsSent.with_bytes(bytes));
        }
        self.check_undamaged(&bytes, kind.as_deref())?;
        // Some writers count characters instead of bytes.
        if let Some(size) = size.filter(|&size| size > bytes.len() as i64 && size != letters) {
            return Err(incomplete(bytes.len(), size));
        }
        Ok(Form::Bytes.with_bytes(bytes))
    }

    /// Returns the length that the fields declare, bytes.
    fn declared_bytes(&self) -> Option<u64> {
        parse_declared_length(self.headers)
    }

    /// Whether the declared length may be that of another form of the body.
    fn is_recoded(&self) -> bool {
        self.headers.iter().any(|header| {
            let name = header.name.to_ascii_lowercase();
            let is_coding = name.ends_with("content-encoding");
            name == "transfer-encoding"
                || (is_coding && !coding::is_identity(header.text().unwrap_or("?")))
        })
    }

    /// Returns an empty body if the HAR has no text. A body that was not stored is an error, unless
    /// a length of 0 declares it empty or nothing declares a length.
    fn read_missing(&self, content: Option<&Content<'_>>) -> Result<Body, String> {
        let size = content.and_then(|content| content.size.integer());
        let has_type = match content {
            Some(content) => media_type(content, self.headers).is_some(),
            None => false,
        };
        let has_type = has_type || header::find(self.headers, "content-type").is_some();
        let is_nothing = !has_type && !self.is_recoded() && size.is_none_or(|size| size == 0);
        let is_declared = self.declared_bytes().map_or(is_nothing, |bytes| bytes == 0);
        match (is_declared && self.sent_bytes <= 0, self.is_needed) {
            (true, _) => Ok(Form::Bytes.with_bytes(Vec::new())),
            (false, true) => Err(NO_BODY.to_owned()),
            (false, false) => Ok(Form::Missing.with_bytes(Vec::new())),
        }
    }

    /// Returns the body as sent, in its content coding, if each character of the text represents
    /// one of its bytes.
    fn read_coded(
        &self,
        text: &str,
        size: Option<i64>,
        kind: Option<&str>,
    ) -> Result<Option<Vec<u8>>, String> {
        if coding::is_identity(&self.codings()) || !text.contains(is_control) {
            return Ok(None);
        }
        // How gzip and zstd begin when read as UTF-8.
        if text.starts_with("\u{1f}\u{fffd}") || text.starts_with("(\u{fffd}/\u{fffd}") {
            return Err(lost(text, size));
        }
        let Some(bytes) = encode_latin1(text) else {
            return Ok(None);
        };
        if self.is_still_coded(&bytes, size) {
            return Ok(Some(bytes));
        }
        self.check_undamaged(&bytes, kind)?;
        Ok(None)
    }

    /// Fails if a text still begins with its content coding but cannot be decoded.
    fn check_undamaged(&self, bytes: &[u8], kind: Option<&str>) -> Result<(), String> {
        let is_marked = CODING_MAGIC.iter().any(|mark| bytes.starts_with(mark));
        if !is_marked || coding::is_identity(&self.codings()) || !kind.is_some_and(is_text_type) {
            return Ok(());
        }
        let names = self.codings();
        Err(format!(
            "its body is still in `{names}`, and cut off or damaged"
        ))
    }

    /// Joins the values of all `Content-Encoding` fields.
    fn codings(&self) -> String {
        coding::all_codings(self.headers)
    }

    /// Whether a body still has the content coding that its fields name, although a HAR holds
    /// decoded bodies: BrowserMob Proxy writes the bytes as sent, and their size. True if it
    /// decodes completely and is not a file that was compressed before it was sent.
    fn is_still_coded(&self, bytes: &[u8], size: Option<i64>) -> bool {
        let names = self.codings();
        if bytes.is_empty() || coding::is_identity(&names) {
            return false;
        }
        let Some(Ok(decoded)) = coding::decode(&names, bytes, self.bytes_max) else {
            return false;
        };
        if size == Some(decoded.len() as i64) {
            return true;
        }
        if !CODING_MAGIC.iter().any(|mark| bytes.starts_with(mark)) {
            // A few bytes may be valid brotli by chance, but brotli is hardly ever valid text.
            return !decoded.is_empty() && std::str::from_utf8(bytes).is_err();
        }
        let kind = header::find(self.headers, "content-type").unwrap_or("");
        let is_compressed_file = ["gzip", "octet-stream", "zstd", "x-tar"];
        let is_compressed_file = is_compressed_file.iter().any(|part| kind.contains(part));
        size != Some(bytes.len() as i64) || !is_compressed_file
    }
}

impl Form {
    fn with_bytes(self, bytes: Vec<u8>) -> Body {
        Body { bytes, form: self }
    }
}

/// The magic numbers of gzip and zstd.
const CODING_MAGIC: [&[u8]; 2] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];
const NO_BODY: &str = "the HAR has no body for it; export it with bodies";

fn incomplete(found: usize, bytes: i64) -> String {
    format!("its body has {found} of {bytes} bytes; export it with whole bodies")
}

fn lost(text: &str, size: Option<i64>) -> String {
    let had = size.map_or_else(String::new, |size| format!(", and had {size}"));
    let bytes = text.len();
    format!("its body is no text, but stands as one of {bytes} bytes{had}")
}

/// Returns the bytes of a body declared as text; its size reveals whether it is base64 or has one
/// character per byte.
fn decode_text(text: String, size: Option<i64>, media_type: Option<&str>) -> Result<Body, String> {
    let bytes = text.len() as i64;
    let Some(size) = size.filter(|&size| size > 0 && size != bytes) else {
        return match media_type.is_some_and(is_text_type) {
            true => Ok(Form::Text.with_bytes(text.into_bytes())),
            false => decode_unsized(text, size, media_type),
        };
    };
    // Four letters are three bytes, and some are line ends.
    let may_be_base64 = (bytes / 4..=bytes / 4 * 3 + 3).contains(&size);
    let is_whole = |decoded: &Vec<u8>| decoded.len() as i64 == size;
    if may_be_base64 && let Some(decoded) = base64::decode(text.clone()).filter(is_whole) {
        return Ok(Form::Recovered.with_bytes(decoded));
    }
    let latin1 = |text: &str| encode_latin1(text).filter(is_whole);
    if media_type.is_none()
        && let Some(bytes) = latin1(&text).filter(|bytes| is_file(bytes))
    {
        return Ok(Form::Recovered.with_bytes(bytes));
    }
    if media_type.is_none_or(is_text_type) {
        if size < bytes && is_lossy(&text) {
            return Err(lost(&text, Some(size)));
        }
        if is_cut(&text, size) {
            return Err(incomplete(text.len(), size));
        }
        return Ok(Form::Text.with_bytes(text.into_bytes()));
    }
    Ok(Form::Recovered.with_bytes(latin1(&text).ok_or_else(|| lost(&text, Some(size)))?))
}

/// Returns the bytes of a file whose type is not known as text, if no size reveals their encoding:
/// its magic number does.
fn decode_unsized(
    text: String,
    size: Option<i64>,
    media_type: Option<&str>,
) -> Result<Body, String> {
    let begin: String = text.chars().take(BEGIN_LETTERS).collect();
    if encode_latin1(&begin).is_some_and(|begin| is_file(&begin))
        && let Some(bytes) = encode_latin1(&text)
    {
        return Ok(Form::Recovered.with_bytes(bytes));
    }
    if base64::decode(begin).is_some_and(|begin| is_file(&begin))
        && let Some(bytes) = base64::decode(text.clone())
    {
        return Ok(Form::Recovered.with_bytes(bytes));
    }
    let is_damaged = match media_type {
        Some(_) => text.contains('\u{fffd}'),
        None => is_lossy(&text),
    };
    if is_damaged {
        return Err(lost(&text, size));
    }
    Ok(Form::Text.with_bytes(text.into_bytes()))
}

/// Returns whether a text shows that a file was read as UTF-8: it has control characters, and
/// U+FFFD for what is none.
fn is_lossy(text: &str) -> bool {
    text.contains('\u{fffd}') && text.contains(is_control)
}

/// Returns whether texts hold this character hardly ever, and files often.
fn is_control(letter: char) -> bool {
    letter.is_control() && !"\t\n\r\x0c".contains(letter)
}

fn is_file(begin: &[u8]) -> bool {
    let is_mp4 = begin
        .get(MP4_MAGIC_OFFSET..)
        .is_some_and(|at| at.starts_with(MP4_MAGIC));
    is_mp4 || FILE_MAGIC.iter().any(|mark| begin.starts_with(mark))
}

/// Converts each character to a byte, or returns `None` if one is above U+00FF.
pub fn encode_latin1(text: &str) -> Option<Vec<u8>> {
    text.chars()
        .map(|letter| u8::try_from(letter).ok())
        .collect()
}

/// Whether a text was cut off: no encoding could give it `size` bytes.
fn is_cut(text: &str, size: i64) -> bool {
    let units = text.encode_utf16().count() as i64;
    let lines = text.bytes().filter(|&byte| byte == b'\n').count() as i64;
    let is_utf16 = size == 2 * units || size == 2 * units + 2;
    // Encodings other than UTF-16 take no more bytes per character than UTF-8; a line end may have
    // lost its CR.
    size > text.len() as i64 + BOM_BYTES + lines && !is_utf16
}

/// Returns the response's media type without parameters, in lower case, if it is declared.
fn media_type(content: &Content<'_>, headers: &[Header]) -> Option<String> {
    let field = header::find(headers, "content-type").map(str::to_owned);
    let named = field.or_else(|| content.mime_type.text())?;
    let kind = named.split(';').next()?.trim().to_ascii_lowercase();
    (kind.contains('/') && kind != "x-unknown").then_some(kind)
}

/// Whether a media type, in lower case and without parameters, is text.
pub fn is_text_type(kind: &str) -> bool {
    let is_text = |text: &&str| kind.starts_with(*text);
    TEXT_TYPES.iter().any(is_text) || kind.ends_with("+xml") || kind.ends_with("+json")
}
