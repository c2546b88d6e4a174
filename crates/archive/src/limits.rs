//! The bounds of the reader, each with its reason: a hostile file costs bounded memory and time.

/// Largest file that is opened, bytes: 64 GiB, beyond any page or crawl that a lab replays.
pub const FILE_BYTES_MAX: u64 = 64 << 30;

/// Inflated bytes that any file may take, whatever its size: a 10 MB object of zeros in a small
/// file is a legitimate test page, and eight of them fit. This and the next two bound the memory
/// of header fields, too, of plain files as well: a record and its message take 2 to 4 kB.
pub const INFLATED_BYTES_ALLOWANCE: u64 = 80 << 20;

/// Inflated bytes per byte of the file beyond the allowance. Text shrinks by 5 to 20; gzip bombs
/// reach 1032 (RFC 1951, a 258-byte match in two bits).
pub const INFLATED_RATIO_MAX: u64 = 64;

/// Inflated bytes of one file in all: 2 GiB, twice the largest archive that the project promises
/// to open; the fields of as many exchanges as are written take half of it.
pub const INFLATED_BYTES_MAX: u64 = 2 << 30;

/// Exchanges that are recorded, imported or written as one site: ten times the 10,000 that the
/// project promises to open within a second.
pub const EXCHANGES_MAX: usize = 100_000;

/// Records of one file, over all WARC files of a container: as many exchanges as are written, with
/// request, response and metadata records each, and what describes files and pages (`warcinfo`, a
/// picture).
pub const RECORDS_MAX: u64 = 3 * EXCHANGES_MAX as u64 + 1_000;

/// Length of a WARC record's own header, bytes: real ones have 300 to 2,000, and long target
/// URIs (Chromium navigates to at most 2 MB of URL) are the only reason to have more.
pub const WARC_HEAD_BYTES_MAX: usize = 4 << 20;

/// Length of an HTTP message's head, bytes: what Chromium accepts of a response (256 KiB), four
/// times over, since a request's head holds its URL too.
pub const HTTP_HEAD_BYTES_MAX: usize = 1 << 20;

/// Length of a URL, bytes: Chromium navigates to no longer one (`url::kMaxURLChars`).
pub const URL_BYTES_MAX: usize = 2 << 20;

/// Size of a HAR, bytes: its bodies are texts that are read whole, and a page's HAR has tens of
/// megabytes.
pub const HAR_BYTES_MAX: usize = 1 << 30;

/// Fields of one head; servers commonly refuse beyond 100, browsers send about 20.
pub const HEAD_FIELDS_MAX: usize = 2_000;

/// Entries of a WACZ's zip directory: WARC files, indexes, pages and logs are tens.
pub const ZIP_ENTRIES_MAX: usize = 10_000;

/// Length of a zip entry's name, bytes: zip allows 65,535, and every note on a record repeats it.
pub const ZIP_NAME_BYTES_MAX: usize = 1_024;

/// Size of `datapackage.json`, of each page list and of a manifest to pack, bytes: read whole, so bounded by what a list
/// of 10,000 pages needs.
pub const METADATA_BYTES_MAX: u64 = 16 << 20;

/// Redirects that are followed back to a recording's start page; browsers stop at 20 (Fetch,
/// section 4.4).
pub const REDIRECTS_MAX: usize = 20;

/// Round trip of a TCP handshake, milliseconds: who waits for a server longer than a minute has
/// given up before.
pub const HANDSHAKE_RTT_MS_MAX: f64 = 60_000.0;

/// Servers of one recording whose handshakes are kept; pages have tens of hosts.
pub const HANDSHAKE_SERVERS_MAX: usize = 10_000;
