//! Messages that the prober receives, and the addresses that it may probe.

pub(crate) mod dns_answer;
pub(crate) mod http3_response;
pub(crate) mod quic_datagram;
pub(crate) mod scan_prefix;
pub(crate) mod tls_records;
