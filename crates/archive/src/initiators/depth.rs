//! How long the chains of dependent requests of a page are.

use crate::exchange::Exchange;
use crate::initiators::{self, Initiator, Initiators};
use crate::url::Url;

/// Exchanges in the longest chain in which each made the browser ask for the next.
///
/// What made the browser ask is the last recorded redirect to the URL, whatever else is recorded of it;
/// else the recorded initiator, else the `Referer`; what has none of them hangs on the main page. A
/// chain that comes back to itself counts each of its URLs once. Takes time and memory in proportion to the exchanges: a
/// hostile recording may be one chain.
pub fn of(exchanges: &[Exchange], main_url: &Url) -> usize {
    let Initiators {
        numbers,
        initiator_of,
    } = initiators::of(exchanges);
    let main = numbers.get(main_url).copied();
    let parent = |initiator: &Initiator| match initiator {
        Initiator::Recorded(number) => Some(*number),
        Initiator::Elsewhere(_) => None,
        Initiator::Unnamed => main,
    };
    let mut parents: Vec<Option<usize>> = initiator_of.iter().map(parent).collect();
    // Every chain begins with the page, whatever is recorded as what asked for it.
    if let Some(main) = main {
        parents[main] = None;
    }
    longest_chain(&parents)
}

/// Nodes on the longest way along `parents`, each given by its number or absent; on a cycle each
/// counts once.
fn longest_chain(parents: &[Option<usize>]) -> usize {
    const UNKNOWN: usize = 0;
    let mut depths = vec![UNKNOWN; parents.len()];
    let mut is_seen = vec![false; parents.len()];
    let mut way = Vec::new();
    for start in 0..parents.len() {
        let mut next = Some(start);
        while let Some(node) = next.filter(|&node| !is_seen[node]) {
            is_seen[node] = true;
            way.push(node);
            next = parents[node];
        }
        // The way ends at a root, at a node whose depth is known, or at one of its own.
        let is_cycle = next.is_some_and(|node| depths[node] == UNKNOWN);
        let at = way.iter().position(|&node| is_cycle && Some(node) == next);
        let cycle = way.split_off(at.unwrap_or(way.len()));
        for &node in &cycle {
            depths[node] = cycle.len();
        }
        while let Some(node) = way.pop() {
            depths[node] = 1 + parents[node].map_or(0, |parent| depths[parent]);
        }
    }
    depths.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::header::Header;
    use crate::import::blank;

    fn url(number: usize) -> Url {
        format!("https://a.test/{number}").parse().unwrap()
    }

    /// `exchanges` of them, number 0 the page; `initiator_of` gives what made the browser ask.
    fn depth(exchanges: usize, initiator_of: impl Fn(usize) -> Option<usize>) -> usize {
        let exchange = |number| Exchange {
            initiator: initiator_of(number).map(|number| url(number).to_string()),
            ..blank(url(number))
        };
        let exchanges: Vec<Exchange> = (0..exchanges).map(exchange).collect();
        of(&exchanges, &url(0))
    }

    #[test]
    fn what_names_no_initiator_hangs_on_the_page() {
        assert_eq!(depth(0, |_| None), 0);
        assert_eq!(depth(1, |_| None), 1);
        assert_eq!(depth(5, |_| None), 2);
        // Of what is not in the recording nothing is known.
        assert_eq!(depth(5, |_| Some(9)), 1);
    }

    #[test]
    fn the_longest_chain_counts() {
        assert_eq!(
            depth(6, |number| [None, Some(0), Some(1), None, Some(3), Some(2)]
                [number]),
            4
        );
    }

    #[test]
    fn a_chain_that_comes_back_counts_each_once() {
        // The page's own initiator leads nowhere.
        assert_eq!(depth(3, |number| Some((number + 2) % 3)), 3);
        let cycle_of_two_with_a_tail = [None, Some(2), Some(1), Some(1), Some(3), None, None, None];
        assert_eq!(depth(8, |number| cycle_of_two_with_a_tail[number]), 4);
        assert_eq!(depth(8, |number| (number == 4).then_some(4)), 2);
    }

    #[test]
    fn chains_through_all_of_a_large_recording_are_measured() {
        const EXCHANGES: usize = 150_000;
        assert_eq!(depth(EXCHANGES, |number| number.checked_sub(1)), EXCHANGES);
        let from_the_last = |number| (number + 1 < EXCHANGES).then_some(number + 1);
        assert_eq!(depth(EXCHANGES, from_the_last), EXCHANGES);
    }

    #[test]
    fn redirects_through_all_of_a_large_recording_are_measured() {
        const EXCHANGES: usize = 150_000;
        let redirect = |number| Exchange {
            status: 302,
            response_headers: vec![Header::new("Location", format!("/{}", number + 1))],
            ..blank(url(number))
        };
        let exchanges: Vec<Exchange> = (0..EXCHANGES).map(redirect).collect();
        assert_eq!(of(&exchanges, &url(0)), EXCHANGES);
    }
}
