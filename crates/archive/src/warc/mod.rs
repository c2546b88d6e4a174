//! WARC files: members and records, as they stand in a file, paired to exchanges.

pub(crate) mod gzip;
pub(crate) mod http1;
pub(crate) mod pairing;
pub(crate) mod record;
pub(crate) mod requests;
pub(crate) mod source;
