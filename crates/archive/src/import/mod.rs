//! Recordings of other tools as exchanges; one format a file.

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

/// Sentences about what is left out; beyond it the list says nothing new.
const LEFT_OUT_MAX: usize = 1000;
/// The rest of a sentence would be the rest of a URL.
const SENTENCE_CHARACTERS_MAX: usize = 500;

/// What was read from other tools' files.
#[derive(Debug, Clone, Default)]
pub struct Imported {
    /// In recorded order, as far as the format has one.
    pub exchanges: Vec<Exchange>,
    /// The page, where the format names one.
    pub main_url: Option<Url>,
    /// The format, what it lacks and what was changed.
    pub provenance: Provenance,
    /// What the page looked like, where the format keeps that.
    pub screenshot: Option<Screenshot>,
}

/// A format: its name, and the exchanges in one file (or folder) of it.
type Importer = fn(&Path, Bytes, &mut Imported) -> Result<(), Refusal>;

/// A format of other tools, read from memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// HAR 1.2 with bodies.
    Har,
    /// One file of a Mahimahi folder: one exchange.
    Mahimahi,
    /// mitmproxy's flows.
    Mitmproxy,
    /// A Web Page Replay archive.
    WebPageReplay,
}

/// Reads one file's content.
///
/// # Errors
/// [`Error::Import`] where it is not of the format, or broken.
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
    imported.leave_out_alone_not_modified();
    Ok(imported)
}

/// Reads HAR files with bodies, Mahimahi's folders, Web Page Replay's archives, mitmproxy's flows
/// and WARC and WACZ files; which it is, is told by each file's beginning. Several files become one recording.
///
/// # Errors
/// [`Error::Import`] where a file is none of these or broken.
pub fn import(paths: &[PathBuf]) -> Result<Imported, Error> {
    let mut imported = Imported::default();
    for path in paths {
        let (name, importer, content) = format_of(path)?;
        importer(path, content, &mut imported).map_err(|refusal| Error::Import {
            path: path.clone(),
            reason: refusal.to_string(),
        })?;
        if let Some(name) = name {
            imported.provenance.source = Some(name.to_owned());
        }
    }
    imported.leave_out_alone_not_modified();
    // Oldest first where the format says when; the sort keeps the order of those that do not.
    imported
        .exchanges
        .sort_by_key(|exchange| exchange.recorded_at_unix_ms.unwrap_or(i64::MAX));
    for (index, exchange) in imported.exchanges.iter_mut().enumerate() {
        exchange.index = index;
    }
    Ok(imported)
}

fn format_of(path: &Path) -> Result<(Option<&'static str>, Importer, Bytes), Error> {
    if path.is_dir() {
        return Ok((Some("mahimahi"), mahimahi::import, Bytes::new()));
    }
    let content = map_file(path)?;
    let first = content.iter().find(|byte| !byte.is_ascii_whitespace());
    // A recording keeps what it says of its own source.
    let known: Option<(Option<&'static str>, Importer)> = match first {
        _ if recorded::is_recording(&content) => Some((None, recorded::import)),
        _ if har::is_encoded(&content) => Some((Some("har"), har::import)),
        Some(b'{') | Some(0xef) => Some((Some("har"), har::import)),
        Some(byte) if byte.is_ascii_digit() => Some((Some("mitmproxy"), mitmproxy::import)),
        _ if content.starts_with(gzip::MAGIC) => Some((Some("wpr"), wpr::import)),
        _ => None,
    };
    let reason = "it is no HAR, mitmproxy flow file, Web Page Replay archive, Mahimahi folder, \
                  WARC or WACZ file; give one of these";
    known
        .map(|(name, importer)| (name, importer, content))
        .ok_or_else(|| Error::Import {
            path: path.to_owned(),
            reason: reason.to_owned(),
        })
}

impl Imported {
    /// Takes an exchange and its memory from the budget of its file, or notes why it cannot be
    /// stored.
    ///
    /// # Errors
    /// Where there are more than a site may have.
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

    /// The same of an exchange that is known to be whole.
    fn push_checked(&mut self, exchange: Exchange, budget: &mut ReadBudget) -> Result<(), Refusal> {
        if let Err(reason) = check_writable(&exchange) {
            self.leave_out(reason);
            return Ok(());
        }
        if self.exchanges.len() == EXCHANGES_MAX {
            let reason = format!("it has more than {EXCHANGES_MAX} exchanges");
            return Err(Refusal::too_large(reason));
        }
        let kept = budget.keep_exchange(&exchange);
        kept.map_err(Refusal::too_large)?;
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

    /// Leaves out the answers of 304 whose body no other exchange has.
    fn leave_out_alone_not_modified(&mut self) {
        let alone = whole::alone_not_modified(&self.exchanges);
        let all = std::mem::take(&mut self.exchanges);
        for (exchange, is_alone) in all.into_iter().zip(alone) {
            if !is_alone {
                self.exchanges.push(exchange);
                continue;
            }
            let url = exchange.url.to_string();
            self.leave_out(format!("{url:.300}: {}", whole::ALONE_NOT_MODIFIED));
        }
    }

    /// The page to load, where nobody named one; none where what is left of a recording has no
    /// page any more.
    fn page(&self) -> Option<Url> {
        let has_page = self.exchanges.iter().any(Exchange::is_html);
        let is_whole = self.provenance.left_out.is_empty();
        let guess = || start_page(&self.exchanges).filter(|_| has_page || is_whole);
        self.main_url.clone().or_else(guess)
    }

    /// What the site says of itself: dates by the exchanges, else by their `Date` fields.
    ///
    /// # Errors
    /// A sentence where there is no exchange, no page, or none for `main_url`.
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
        let said = exchanges
            .iter()
            .filter_map(|each| timestamp::parse_http(each.response_header("date")?));
        Ok(SiteMetadata {
            title: title.to_owned(),
            description: String::new(),
            main_url,
            created_at_unix_ms: recorded.min().or(said.min()).unwrap_or(0),
            provenance: self.provenance.clone(),
            screenshot: self.screenshot.clone(),
        })
    }
}

/// An exchange with nothing but its URL; what a format has is filled in.
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
    fn what_an_exchange_takes_is_counted_as_it_comes() {
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
        // 88 bytes a field, within 80 MiB.
        assert!((300..500).contains(&imported.exchanges.len()));
    }

    #[test]
    fn what_is_left_out_is_told_in_short_sentences() {
        let mut imported = Imported::default();
        imported.leave_out(format!("https://a.test/{}: broken", "a\n".repeat(1 << 20)));
        assert!(imported.provenance.left_out[0].len() < 2 * SENTENCE_CHARACTERS_MAX);
    }
}
