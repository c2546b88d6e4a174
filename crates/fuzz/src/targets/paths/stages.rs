use crate::targets::check_message;
use eyelevel_link::{Direction, FileText, Packet, StageSpec};
use eyelevel_units::{Duration, Instant, Seed};

/// The number of packets that each direction gets.
const PACKETS: u64 = 40;
/// The most virtual time that passes.
const END: Instant = Instant::from_nanos(2_000_000_000);
/// The most turns: a direction with a grain of microseconds would take millions.
const TURNS_MAX: usize = 2_000;
/// The content of every file that a stage names, valid as a trace, as positions and as delays.
const FILE: &str = "1\n3\n3\n8\n";

/// Checks accepted stages: they survive a round trip through JSON, and a direction of them is
/// refused in one line, or carries packets without adding or losing count of any.
pub(super) fn check(mut stages: Vec<StageSpec>) {
    let text = serde_json::to_string(&stages).expect("stages are JSON");
    let again: Vec<StageSpec> = serde_json::from_str(&text).expect("what was written is read");
    assert_eq!(again, stages);
    for stage in &mut stages {
        if let Err(error) = stage.load_files(&mut |name| {
            Ok(FileText {
                name: name.to_owned(),
                text: FILE.to_owned(),
            })
        }) {
            return check_message(&error);
        }
    }
    match Direction::new(&stages, Seed::new(1)) {
        Ok(direction) => carry(direction),
        Err(error) => check_message(&error),
    }
}

fn carry(mut direction: Direction<u64>) {
    direction.start(Instant::ZERO);
    let mut released_at = Instant::ZERO;
    let (mut now, mut sent) = (Instant::ZERO, 0);
    for _ in 0..TURNS_MAX {
        while let Some(release) = direction.poll_transmit(now) {
            assert!(release.at <= now, "a release of the future");
            assert!(release.at >= released_at, "releases go back in time");
            assert!(release.number < sent, "a packet that was never sent");
            released_at = release.at;
        }
        let next_packet =
            (sent < PACKETS).then(|| Instant::ZERO + Duration::from_micros(sent / 4 * 7_000));
        let next = [direction.poll_timeout(), next_packet];
        match next.into_iter().flatten().min() {
            Some(at) if at <= END => now = now.max(at),
            _ => return,
        }
        if next_packet.is_some_and(|at| at <= now) {
            let bytes = [1500, 40, 576, 9000][sent as usize % 4];
            direction.handle_packet(now, Packet::new(bytes, sent));
            sent += 1;
        } else {
            direction.handle_timeout(now);
        }
    }
}
