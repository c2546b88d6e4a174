use super::padding;
use crate::stack::CERTIFICATE_CHAIN_BYTES_MAX;
use std::collections::BTreeMap;

/// How large the chains are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chains {
    /// As short as they are.
    Short,
    /// All padded to so many bytes.
    All(u32),
    /// Each padded to its host's size, where that is known and enough.
    Recorded(BTreeMap<String, u64>),
}

impl Chains {
    /// What a host's chain, of `short` bytes without padding, is to be padded to.
    pub(super) fn wanted(&self, host: &str, short: usize) -> Option<u32> {
        match self {
            Self::Short => None,
            Self::All(bytes) => Some(*bytes),
            Self::Recorded(sizes) => {
                let bytes = u32::try_from(*sizes.get(host)?).ok()?;
                let enough = bytes as usize >= short + padding::OVERHEAD_BYTES_MAX;
                // More than clients take was never recorded of one that worked.
                enough.then_some(bytes.min(CERTIFICATE_CHAIN_BYTES_MAX))
            }
        }
    }
}
