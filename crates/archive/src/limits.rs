//! The bounds of the reader, each with its reason, so that a hostile file costs bounded memory and
//! time.

/// The largest file that is opened, bytes: 64 GiB, beyond any page or crawl that a lab replays.
pub const FILE_BYTES_MAX: u64 = 64 << 30;

/// Inflated bytes that any file may take, whatever its size: a 10 MB object of zeros in a small
/// file is a legitimate test page, and eight of them fit. This and the next two also bound the
/// memory of header fields, in uncompressed files too: a record and its message take 2 to 4 kB.
pub const INFLATED_BYTES_ALLOWANCE: u64 = 80 << 20;

/// Inflated bytes per byte of the file beyond the allowance. Text shrinks by 5 to 20; gzip bombs
/// reach 1032 (RFC 1951, a 258-byte match in two bits).
pub const INFLATED_RATIO_MAX: u64 = 64;

/// Inflated bytes of one file in total: 2 GiB, twice the largest archive that the project supports.
/// The fields of [`EXCHANGES_MAX`] exchanges take half of it.
pub const INFLATED_BYTES_MAX: u64 = 2 << 30;

/// Exchanges that are recorded, imported or written as one site: ten times the 10,000 that open
/// within a second.
pub const EXCHANGES_MAX: usize = 100_000;

/// Records of one file, over all WARC files of a container: request, response and metadata records
/// for [`EXCHANGES_MAX`] exchanges, and those that describe files and pages (`warcinfo`, a
/// screenshot).
pub const RECORDS_MAX: u64 = 3 * EXCHANGES_MAX as u64 + 1_000;

/// The length of a WARC record's own header, bytes: real ones have 300 to 2,000; only long target
/// URIs need more (Chromium navigates to URLs of at most 2 MB).
pub const WARC_HEAD_BYTES_MAX: usize = 4 << 20;

/// The length of an HTTP message's head, bytes: four times what Chromium accepts of a response (256
/// KiB), since a request's head also holds its URL.
pub const HTTP_HEAD_BYTES_MAX: usize = 1 << 20;

/// The length of a URL, bytes: the longest that Chromium navigates to (`url::kMaxURLChars`).
pub const URL_BYTES_MAX: usize = 2 << 20;

/// The size of a HAR, bytes: its bodies are texts in memory, and a page's HAR has tens of
/// megabytes.
pub const HAR_BYTES_MAX: usize = 1 << 30;

/// Fields of one head; servers commonly refuse beyond 100, browsers send about 20.
pub const HEAD_FIELDS_MAX: usize = 2_000;

/// Entries of a WACZ's zip directory; real ones have tens of WARC files, indexes, pages and logs.
pub const ZIP_ENTRIES_MAX: usize = 10_000;

/// The length of a zip entry's name, bytes: zip allows 65,535, and every note on a record repeats
/// it.
pub const ZIP_NAME_BYTES_MAX: usize = 1_024;

/// The size of `datapackage.json`, of each page list and of a manifest to pack, bytes: each is read
/// into memory, so bounded by the needs of a list of 10,000 pages.
pub const METADATA_BYTES_MAX: u64 = 16 << 20;

/// Redirects that are followed back to a recording's start page; browsers stop at 20 (Fetch,
/// section 4.4).
pub const REDIRECTS_MAX: usize = 20;

/// The round trip of a TCP handshake, milliseconds: clients give up within a minute.
pub const HANDSHAKE_RTT_MS_MAX: f64 = 60_000.0;

/// Servers of one recording whose handshakes are stored; pages have tens of hosts.
pub const HANDSHAKE_SERVERS_MAX: usize = 10_000;
