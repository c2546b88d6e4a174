//! One scheduler: body bytes leave in the same order over HTTP/2 and HTTP/3, read on the wire.

use crate::common::raw::{Step, order};
use crate::common::{Recorded, Running, pattern, site, stack};
use eyelevel_replay::{HttpVersion, StackConfig};
use std::collections::BTreeSet;

const HOST: &str = "www.example.test";
const PATHS: [&str; 7] = ["/0", "/1", "/2", "/3", "/4", "/5", "/6"];
/// The size of a body: five chunks of the scheduler, below a stream's window.
const BODY_BYTES: usize = 40_000;
/// The size of the first body: above a stream's window, so that it holds its place until it is
/// read.
const FIRST_BYTES: usize = 100_000;

/// A mix of urgencies and incremental flags; two are changed, one of them before its request.
const STEPS: [Step; 8] = [
    Step::Ask("/1", "u=5"),
    Step::Ask("/2", "u=3, i"),
    Step::Change(6, "u=1"),
    Step::Ask("/3", ""),
    Step::Ask("/4", "u=3, i"),
    Step::Ask("/5", "u=2, i"),
    Step::Ask("/6", "u=7"),
    Step::Change(3, "u=6"),
];

async fn observe_order(version: HttpVersion, priorities: bool, unsent: Option<u32>) -> Vec<u64> {
    let recorded: Vec<Recorded> = PATHS
        .iter()
        .enumerate()
        .map(|(number, path)| {
            let bytes = if number == 0 { FIRST_BYTES } else { BODY_BYTES };
            Recorded::new(
                &format!("https://{HOST}{path}"),
                pattern(bytes, number as u64),
            )
        })
        .collect();
    let stack = StackConfig {
        priorities,
        unsent_bytes_max: unsent,
        ..stack(version)
    };
    let running = Running::start(site(&recorded), stack);
    let order = order(&running, HOST, PATHS[0], &STEPS).await;
    running.stop().await;
    order
}

#[tokio::test]
async fn body_bytes_leave_in_the_same_order_over_both_protocols() {
    let expected = |order: &[u64]| {
        // The first, the changed one, the urgent one, two that share in turn, then the late ones.
        assert_eq!(order[..3], [0, 6, 5], "{order:?}");
        let (shared, late) = order[3..].split_at(order.len() - 5);
        assert_eq!(late, [1, 3], "{order:?}");
        assert!(shared.len() >= 8, "chunk by chunk: {order:?}");
        assert_eq!(
            shared.iter().collect::<BTreeSet<_>>(),
            [2, 4].iter().collect()
        );
    };
    for unsent in [None, Some(16 * 1024)] {
        let (h2, h3) = (
            observe_order(HttpVersion::H2, true, unsent).await,
            observe_order(HttpVersion::H3, true, unsent).await,
        );
        expected(&h2);
        assert_eq!(h2, h3, "{unsent:?}");
    }
}

#[tokio::test]
async fn without_priorities_all_share_equally_over_both() {
    for version in [HttpVersion::H2, HttpVersion::H3] {
        let order = observe_order(version, false, None).await;
        // Every response appears repeatedly.
        for number in 1..7 {
            let turns = order.iter().filter(|each| **each == number).count();
            assert!(turns >= 3, "{version:?}: {order:?}");
        }
    }
}
