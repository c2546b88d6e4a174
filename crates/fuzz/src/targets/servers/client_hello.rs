use eyelevel_replay::wire::HelloWatch;

const HANDSHAKE: u8 = 22;

/// Parses a client's first bytes, as TCP's records and as QUIC's messages. The result does not
/// depend on how they are split, and messages in records give the same result as without them.
pub(crate) fn run(input: &[u8]) {
    let on_records = |bytes: &[u8], piece_bytes: usize| {
        let mut watch = HelloWatch::default();
        for piece in bytes.chunks(piece_bytes) {
            watch.on_records(piece);
        }
        watch.early_data_offered()
    };
    let on_messages = |piece_bytes: usize| {
        let mut watch = HelloWatch::default();
        for piece in input.chunks(piece_bytes) {
            watch.on_messages(piece);
        }
        watch.early_data_offered()
    };
    let whole = input.len().max(1);
    let found = on_records(input, whole);
    let messages = on_messages(whole);
    for piece_bytes in [1, 7] {
        assert_eq!(on_records(input, piece_bytes), found);
        assert_eq!(on_messages(piece_bytes), messages);
    }
    let mut records = Vec::new();
    for piece in input.chunks(200) {
        records.extend([HANDSHAKE, 3, 1, 0, piece.len() as u8]);
        records.extend(piece);
    }
    assert_eq!(on_records(&records, records.len().max(1)), messages);
}
