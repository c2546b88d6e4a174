//! The length of a page's chains of dependent requests.

use crate::exchange::Exchange;
use crate::initiators::{self, Initiator, Initiators};
use crate::url::Url;

/// Returns the number of exchanges in the longest chain in which each made the browser request the
/// next.
///
/// An exchange's initiator is the last recorded redirect to its URL, even if another is recorded,
/// else the recorded initiator, else the `Referer`, else the main page. A cycle counts each of its
/// URLs once. Takes linear time and memory, since a hostile recording may be one chain.
pub fn measure(exchanges: &[Exchange], main_url: &Url) -> usize {
    let Initiators {
        numbers,
        initiator_of,
    } = initiators::determine(exchanges);
    let main = numbers.get(main_url).copied();
    let parent = |initiator: &Initiator| match initiator {
        Initiator::Recorded(number) => Some(*number),
        Initiator::Elsewhere(_) => None,
        Initiator::Unnamed => main,
    };
    let mut parents: Vec<Option<usize>> = initiator_of.iter().map(parent).collect();
    // Every chain begins with the page, whatever its recorded initiator is.
    if let Some(main) = main {
        parents[main] = None;
    }
    longest_chain(&parents)
}

/// Returns the number of nodes on the longest path along `parents`, given as indices; each node of
/// a cycle counts once.
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
        // The path ends at a root, at a node whose depth is known, or at a node that it already
        // has.
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

    /// Returns the depth of `exchanges` exchanges, of which number 0 is the page; `initiator_of`
    /// returns the initiator of each.
    fn depth(exchanges: usize, initiator_of: impl Fn(usize) -> Option<usize>) -> usize {
        let exchange = |number| Exchange {
            initiator: initiator_of(number).map(|number| url(number).to_string()),
            ..blank(url(number))
        };
        let exchanges: Vec<Exchange> = (0..exchanges).map(exchange).collect();
        measure(&exchanges, &url(0))
    }

    #[test]
    fn exchanges_without_initiator_depend_on_the_page() {
        assert_eq!(depth(0, |_| None), 0);
        assert_eq!(depth(1, |_| None), 1);
        assert_eq!(depth(5, |_| None), 2);
        // An initiator that is not in the recording counts as unknown.
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
        // The page's own initiator is ignored.
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
        assert_eq!(measure(&exchanges, &url(0)), EXCHANGES);
    }
}
