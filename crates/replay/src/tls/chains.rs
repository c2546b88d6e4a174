use super::padding;
use crate::stack::CERTIFICATE_CHAIN_BYTES_MAX;
use std::collections::BTreeMap;

/// The sizes of the chains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chains {
    /// All unpadded.
    Short,
    /// All padded to one size in bytes.
    All(u32),
    /// Each padded to its host's size, if that is known and large enough.
    Recorded(BTreeMap<String, u64>),
}

impl Chains {
    /// Returns the padded size of a host's chain that has `short` bytes without padding.
    pub(super) fn padded_bytes(&self, host: &str, short: usize) -> Option<u32> {
        match self {
            Self::Short => None,
            Self::All(bytes) => Some(*bytes),
            Self::Recorded(sizes) => {
                let bytes = u32::try_from(*sizes.get(host)?).ok()?;
                let enough = bytes as usize >= short + padding::OVERHEAD_BYTES_MAX;
                // A recorded chain that worked is within what clients accept.
                enough.then_some(bytes.min(CERTIFICATE_CHAIN_BYTES_MAX))
            }
        }
    }
}
