use eyelevel_probe::wire::{to_version1, versions_offered};

/// Parses a datagram: renumbering changes only packet types, and only those of version 2; a packet
/// without a long header offers no versions.
pub(crate) fn run(input: &[u8]) {
    const TYPE: u8 = 0x30;
    let offered = versions_offered(input);
    let is_long = input.first().is_some_and(|first| first & 0x80 != 0);
    assert!(offered.is_none() || is_long);
    assert!(offered.is_none_or(|versions| versions.len() <= 16));
    let mut renumbered = input.to_vec();
    to_version1(&mut renumbered);
    assert_eq!(renumbered.len(), input.len());
    for (new, old) in renumbered.iter().zip(input) {
        assert_eq!(new & !TYPE, old & !TYPE);
    }
    let is_version2 = input.get(1..5) == Some(&0x6b33_43cf_u32.to_be_bytes());
    assert!(renumbered == input || (is_long && is_version2));
}
