//! How long the servers think before they answer; pure.

use crate::{NamedThinkTime, ThinkTime};
use eyelevel_archive::{Exchange, Scheme};
use std::collections::HashMap;

/// Nanoseconds for each exchange; empty where no answer is kept back.
///
/// A recorded time to first byte holds the round trip to the server. The smallest that the origin
/// showed stands for it and is taken off; an exchange without a recorded time is answered at once.
pub(crate) fn times_ns(exchanges: &[Exchange], think_time: ThinkTime) -> Vec<u64> {
    match think_time {
        ThinkTime::Named(NamedThinkTime::None) => Vec::new(),
        ThinkTime::Ms(ms) => vec![nanos(ms); exchanges.len()],
        ThinkTime::Named(NamedThinkTime::Recorded) => {
            let mut least: HashMap<(Scheme, &str, u16), f64> = HashMap::new();
            let origin = |exchange: &'_ Exchange| {
                let url = &exchange.url;
                (url.scheme, url.port)
            };
            for exchange in exchanges {
                if let Some(ms) = exchange.time_to_first_byte_ms {
                    let (scheme, port) = origin(exchange);
                    let key = (scheme, exchange.url.host.as_str(), port);
                    let known = least.entry(key).or_insert(ms);
                    *known = known.min(ms);
                }
            }
            let above = |exchange: &Exchange| {
                let (scheme, port) = origin(exchange);
                let least = least.get(&(scheme, exchange.url.host.as_str(), port))?;
                Some(nanos(exchange.time_to_first_byte_ms? - least))
            };
            let times = exchanges
                .iter()
                .map(|exchange| above(exchange).unwrap_or(0));
            times.collect()
        }
    }
}

fn nanos(ms: f64) -> u64 {
    // A cast of a float saturates; what is not above 0 gives 0.
    (ms * 1e6) as u64
}
