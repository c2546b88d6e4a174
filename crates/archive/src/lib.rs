//! Recorded sites: reads exchanges and their origins from WARC and WACZ files, and writes them.
//!
//! [`Site::open`] maps a file, builds its index once and refuses a damaged one; [`write_wacz`]
//! packs exchanges into a WACZ that other tools read too. `spec/archive.md` specifies which parts
//! of both formats are used and which metadata is added.

mod address;
mod base64;
mod budget;
mod coding;
mod digest;
mod draft;
mod error;
mod exchange;
mod export;
mod import;
mod info;
mod initiators;
pub mod limits;
mod links;
mod map;
mod origin;
mod pack;
mod provenance;
mod secure;
mod site;
mod timestamp;
mod url;
mod verify;
mod wacz;
mod warc;
mod whole;
mod writer;

pub use self::url::{Scheme, Url, UrlError};
pub use digest::sha256;
pub use draft::Step;
pub use error::{Damage, Error};
pub use exchange::header::Header;
pub use exchange::outgoing::response_headers_to_send;
pub use exchange::screenshot::Screenshot;
pub use exchange::{Exchange, Note};
pub use export::{export_answers, export_files, export_har, export_mahimahi};
pub use import::{Format, Imported, import, import_content};
pub use info::{MediaType, SiteInfo};
pub use initiators::start::start_page;
pub use map::{map_file, map_open_file};
pub use origin::Origin;
pub use pack::pack;
pub use provenance::{HandshakeRtt, Provenance};
pub use secure::secure;
pub use site::Site;
pub use verify::Verification;
pub use warc::http1::{StatusLine, response_head};
pub use writer::{SiteMetadata, check_writable, write_wacz, write_wacz_in_steps};
