//! Counts losses outside of the model: packets that no stage dropped and that still did not arrive.

use eyelevel_netns::{Device, Lost};
use std::collections::BTreeMap;

/// Lost packets by source for each end of the path, `client`, `server` and with a second pair
/// `second_client` and `second_server`; null if the kernel does not report them.
pub type LostOutside = BTreeMap<&'static str, Option<Lost>>;

const CLIENTS: [&str; 2] = ["client", "second_client"];
const SERVERS: [&str; 2] = ["server", "second_server"];
/// The source of whole packets that a device did not accept from the path.
const DEVICE_WRITE: &str = "device_write";

/// The losses before the current load.
#[derive(Default)]
pub(crate) struct Baseline(LostOutside);

impl Baseline {
    pub(crate) fn now(clients: &mut [Device], servers: &mut [Device]) -> Self {
        Self(lost(clients, servers))
    }

    /// Returns the losses since. `unwritten` are packets that the clients' and the servers' devices
    /// did not accept since.
    pub(crate) fn since(
        &self,
        clients: &mut [Device],
        servers: &mut [Device],
        unwritten: (u64, u64),
    ) -> LostOutside {
        let mut since = lost(clients, servers);
        for (end, lost) in &mut since {
            let before = self.0.get(end).and_then(Option::as_ref);
            for (source, count) in lost.iter_mut().flatten() {
                *count -= before.and_then(|lost| lost.get(source)).unwrap_or(&0);
            }
        }
        for (end, count) in [(CLIENTS[0], unwritten.0), (SERVERS[0], unwritten.1)] {
            if let Some(Some(lost)) = since.get_mut(end) {
                lost.insert(DEVICE_WRITE, count);
            }
        }
        since
    }
}

fn lost(clients: &mut [Device], servers: &mut [Device]) -> LostOutside {
    let clients = CLIENTS.into_iter().zip(clients);
    let ends = clients.chain(SERVERS.into_iter().zip(servers));
    ends.map(|(end, device)| (end, device.lost())).collect()
}
