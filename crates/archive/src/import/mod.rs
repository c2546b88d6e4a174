//! Import of other tools' recordings, one format per file.

mod har;
pub(crate) mod har_body;
mod har_charset;
mod har_handshakes;
mod har_log;
mod har_posted;
mod json;
mod json_loose;
mod mahimahi;
mod mitmproxy;
pub(crate) mod protobuf;
mod recorded;
mod refusal;
mod tnetstring;
mod wpr;

use std::path::{Path, PathBuf};

use bytes::Bytes;
use eyelevel_units::one_line;

use crate::budget::ReadBudget;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::exchange::screenshot::Screenshot;
use crate::initiators::start::start_page;
use crate::limits::EXCHANGES_MAX;
use crate::map::map_file;
use crate::provenance::Provenance;
use crate::timestamp;
use crate::url::Url;
use crate::warc::gzip;
use crate::whole;
use crate::writer::{SiteMetadata, check_writable};

use refusal::Refusal;

/// The most sentences about exchanges that are left out; more would add no information.
const LEFT_OUT_MAX: usize = 1000;
/// The longest sentence, characters; the remainder would only be the rest of a URL.
const SENTENCE_CHARACTERS_MAX: usize = 500;

/// The result of importing other tools' files.
#[derive(Debug, Clone, Default)]
pub struct Imported {
    /// The exchanges in recorded order, as far as the format has one.
    pub exchanges: Vec<Exchange>,
    /// The page, if the format names one.
    pub main_url: Option<Url>,
    /// The format, what is missing and what was changed.
    pub provenance: Provenance,
    /// The screenshot, if the format has one.
    pub screenshot: Option<Screenshot>,
}

/// A function that adds the exchanges in one file (or folder) of a format.
type Importer = fn(&Path, Bytes, &mut Imported) -> Result<(), Refusal>;

/// A format of other tools that can be read from memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// HAR 1.2 with bodies.
    Har,
    /// One file of a Mahimahi folder, with one exchange.
    Mahimahi,
    /// mitmproxy's flows.
    Mitmproxy,
    /// A Web Page Replay archive.
    WebPageReplay,
}

/// Imports the content of one file.
///
/// # Errors
///
/// Returns [`Error::Import`] if it is not in the format or is damaged.
pub fn import_content(format: Format, content: Bytes) -> Result<Imported, Error> {
    let (name, importer): (&str, Importer) = match format {
        Format::Har => ("har", har::import),
        Format::Mahimahi => ("mahimahi", mahimahi::import_file),
        Format::Mitmproxy => ("mitmproxy", mitmproxy::import),
        Format::WebPageReplay => ("wpr", wpr::import),
    };
    let path = Path::new(name);
    let mut imported = Imported::default();
    importer(path, content, &mut imported).map_err(|refusal| Error::Import {
        path: path.to_owned(),
        reason: refusal.to_string(),
    })?;
    imported.leave_out_lone_not_modified();
    Ok(imported)
}

/// Imports HAR files with bodies, Mahimahi's folders, Web Page Replay's archives, mitmproxy's
/// flows, WARC and WACZ files; the format is detected from each file's beginning. Several files
/// become one recording.
///
/// # Errors
///
/// Returns [`Error::Import`] if a file is in none of these formats or is damaged.
pub fn import(paths: &[PathBuf]) -> Result<Imported, Error> {
    let mut imported = Imported::default();
    for path in paths {
        let (name, importer, content) = detect_format(path)?;
        importer(path, content, &mut imported).map_err(|refusal| Error::Import {
            path: path.clone(),
            reason: refusal.to_string(),
        })?;
        if let Some(name) = name {
            imported.provenance.source = Some(name.to_owned());
        }
    }
    imported.leave_out_lone_not_modified();
    // Sorted by date where the format has one; the stable sort keeps the order of the rest.
    imported
        .exchanges
        .sort_by_key(|exchange| exchange.recorded_at_unix_ms.unwrap_or(i64::MAX));
    for (index, exchange) in imported.exchanges.iter_mut().enumerate() {
        exchange.index = index;
    }
    Ok(imported)
}

fn detect_format(path: &Path) -> Result<(Option<&'static str>, Importer, Bytes), Error> {
    if path.is_dir() {
        return Ok((Some("mahimahi"), mahimahi::import, Bytes::new()));
    }
    let content = map_file(path)?;
    let first = content.iter().find(|byte| !byte.is_ascii_whitespace());
    // A recording keeps its own source in the provenance.
    let known: Option<(Option<&'static str>, Importer)> = match first {
        _ if recorded::is_recording(&content) => Some((None, recorded::import)),
        _ if har::is_encoded(&content) => Some((Some("har"), har::import)),
        Some(b'{') | Some(0xef) => Some((Some("har"), har::import)),
        Some(byte) if byte.is_ascii_digit() => Some((Some("mitmproxy"), mitmproxy::import)),
        _ if content.starts_with(gzip::MAGIC) => Some((Some("wpr"), wpr::import)),
        _ => None,
    };
    let reason = match &content[..] {
        [] => "it is empty; record or export it again",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "it is compressed with zstd; run `unzstd` on it",
        _ => {
            "it is no HAR, mitmproxy flow file, Web Page Replay archive, Mahimahi folder, WARC or \
             WACZ file; give one of these"
        }
    };
    known
        .map(|(name, importer)| (name, importer, content))
        .ok_or_else(|| Error::Import {
            path: path.to_owned(),
            reason: reason.to_owned(),
        })
}

impl Imported {
    /// Adds an exchange and spends its memory from the budget of its file, or notes why it cannot
    /// be stored.
    ///
    /// # Errors
    ///
    /// Fails if there are more exchanges than a site may have.
    fn push(&mut self, mut exchange: Exchange, budget: &mut ReadBudget) -> Result<(), Refusal> {
        match whole::check(&mut exchange, budget) {
            Ok(None) => {}
            Ok(Some(changed)) => self.alter(format!("{}: {changed}", exchange.url)),
            Err(reason) => {
                self.leave_out(format!("{:.300}: {reason}", exchange.url.to_string()));
                return Ok(());
            }
        }
        self.push_checked(exchange, budget)
    }

    /// Adds an exchange that is known to be complete, like [`Imported::push`].
    fn push_checked(&mut self, exchange: Exchange, budget: &mut ReadBudget) -> Result<(), Refusal> {
        if let Err(reason) = check_writable(&exchange) {
            self.leave_out(reason);
            return Ok(());
        }
        if self.exchanges.len() == EXCHANGES_MAX {
            let reason = format!("it has more than {EXCHANGES_MAX} exchanges");
            return Err(Refusal::too_large(reason));
        }
        let spent = budget.spend_exchange(&exchange);
        spent.map_err(Refusal::too_large)?;
        self.exchanges.push(exchange);
        Ok(())
    }

    fn leave_out(&mut self, sentence: String) {
        let sentence = one_line(&format!("{sentence:.SENTENCE_CHARACTERS_MAX$}"));
        let left_out = &mut self.provenance.left_out;
        if left_out.len() < LEFT_OUT_MAX && !left_out.contains(&sentence) {
            left_out.push(sentence);
        }
    }

    fn alter(&mut self, sentence: String) {
        let altered = &mut self.provenance.altered;
        if altered.len() < LEFT_OUT_MAX {
            altered.push(one_line(&format!("{sentence:.SENTENCE_CHARACTERS_MAX$}")));
        }
    }

    /// Leaves out the responses with status 304 whose body no other exchange has.
    fn leave_out_lone_not_modified(&mut self) {
        let alone = whole::find_lone_not_modified(&self.exchanges);
        let all = std::mem::take(&mut self.exchanges);
        for (exchange, is_alone) in all.into_iter().zip(alone) {
            if !is_alone {
                self.exchanges.push(exchange);
                continue;
            }
            let url = exchange.url.to_string();
            self.leave_out(format!("{url:.300}: {}", whole::LONE_NOT_MODIFIED));
        }
    }

    /// Returns the default page to load, or `None` if the page of a recording was left out.
    fn page(&self) -> Option<Url> {
        let has_page = self.exchanges.iter().any(Exchange::is_html);
        let is_whole = self.provenance.left_out.is_empty();
        let guess = || start_page(&self.exchanges).filter(|_| has_page || is_whole);
        self.main_url.clone().or_else(guess)
    }

    /// Returns the site's metadata, dated by its exchanges or else by their `Date` fields.
    ///
    /// # Errors
    ///
    /// Returns a sentence if there is no exchange, no page, or none for `main_url`.
    pub fn metadata(&self, main_url: Option<Url>, title: &str) -> Result<SiteMetadata, String> {
        let exchanges = &self.exchanges;
        let main_url = main_url.or_else(|| self.page()).ok_or_else(|| {
            let lacks = match exchanges.len() {
                0 => "it holds no exchange that can be replayed".to_owned(),
                left => format!("the {left} exchanges that can be replayed hold no page"),
            };
            let otherwise = match exchanges.len() {
                0 => "",
                _ => ", or name one with --main-url",
            };
            let lacks = match &self.provenance.left_out[..] {
                [] => lacks,
                [first, ..] => format!("{lacks}; left out: {first}"),
            };
            format!("{lacks}; record the page again{otherwise}")
        })?;
        if !exchanges.iter().any(|exchange| exchange.url == main_url) {
            return Err(format!(
                "the page {main_url} is not in it; name another one"
            ));
        }
        let recorded = exchanges.iter().filter_map(|each| each.recorded_at_unix_ms);
        let response_dates = exchanges
            .iter()
            .filter_map(|each| timestamp::parse_http(each.response_header("date")?));
        Ok(SiteMetadata {
            title: title.to_owned(),
            description: String::new(),
            main_url,
            created_at_unix_ms: recorded.min().or(response_dates.min()).unwrap_or(0),
            provenance: self.provenance.clone(),
            screenshot: self.screenshot.clone(),
        })
    }
}

/// Creates an exchange with only a URL, for importers to fill in.
pub(crate) fn blank(url: Url) -> Exchange {
    Exchange {
        index: 0,
        method: "GET".to_owned(),
        url,
        request_headers: Vec::new(),
        request_body: Bytes::new(),
        status: 200,
        reason: String::new(),
        response_headers: Vec::new(),
        body: Bytes::new(),
        address: None,
        protocol: "http/1.1".to_owned(),
        recorded_at_unix_ms: None,
        time_to_first_byte_ms: None,
        initiator: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::header::Header;

    #[test]
    fn each_exchange_is_charged_when_added() {
        let url: Url = "https://a.test/".parse().unwrap();
        let exchange = Exchange {
            response_headers: vec![Header::new("a", ""); 2_000],
            ..blank(url)
        };
        let mut imported = Imported::default();
        let mut budget = ReadBudget::for_file(0);
        let refused = (0..1_000).find_map(|_| imported.push(exchange.clone(), &mut budget).err());
        let refused = refused.expect("more than the allowance").to_string();
        assert!(refused.contains("bytes of memory, the bound"), "{refused}");
        // 88 bytes per field, within 80 MiB.
        assert!((300..500).contains(&imported.exchanges.len()));
    }

    #[test]
    fn notes_are_short_sentences() {
        let mut imported = Imported::default();
        imported.leave_out(format!("https://a.test/{}: broken", "a\n".repeat(1 << 20)));
        assert!(imported.provenance.left_out[0].len() < 2 * SENTENCE_CHARACTERS_MAX);
    }
}
