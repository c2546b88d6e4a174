//! WARC files: gzip members, records, and their pairing to exchanges.

pub(crate) mod gzip;
pub(crate) mod http1;
pub(crate) mod pairing;
pub(crate) mod record;
pub(crate) mod requests;
pub(crate) mod source;
