use super::core::{Scheduler, StreamId};
use super::*;

const CHUNK: usize = 100;
const ROOM: Room = Room {
    chunk_bytes: CHUNK,
    chunk_wire_bytes: CHUNK,
    pending_bytes_max: 2 * CHUNK,
    unsent_bytes_max: None,
};

fn priority(field: &str) -> Priority {
    Priority::parse(field)
}

/// Returns the order of grants for a transport that accepts each chunk at once.
fn drain(scheduler: &mut Scheduler, ids: &[StreamId]) -> Vec<usize> {
    let mut order = Vec::new();
    loop {
        for id in ids {
            scheduler.mark_ready(*id);
        }
        let Some(grant) = scheduler.poll_grant() else {
            return order;
        };
        scheduler.on_taken(grant.stream, grant.bytes);
        order.push(ids.iter().position(|id| *id == grant.stream).unwrap());
    }
}

fn grant_order(fields: &[&str]) -> Vec<usize> {
    let mut scheduler = Scheduler::new(ROOM);
    let open = |field: &&str| scheduler.open(priority(field), 2 * CHUNK as u64);
    let ids: Vec<StreamId> = fields.iter().map(open).collect();
    drain(&mut scheduler, &ids)
}

#[test]
fn the_urgent_go_first_and_the_incremental_share() {
    assert_eq!(grant_order(&["u=5", "u=0", "u=3"]), [1, 1, 2, 2, 0, 0]);
    assert_eq!(grant_order(&["", "", ""]), [0, 0, 1, 1, 2, 2]);
    assert_eq!(grant_order(&["i", "i", "i"]), [0, 1, 2, 0, 1, 2]);
    assert_eq!(grant_order(&["i", "", "u=1, i"]), [2, 2, 1, 1, 0, 0]);
}

#[test]
fn a_less_urgent_response_is_not_sent_between_chunks() {
    let mut scheduler = Scheduler::new(ROOM);
    let urgent = scheduler.open(priority("u=0"), 300);
    let other = scheduler.open(priority("u=1"), 100);
    scheduler.mark_ready(urgent);
    scheduler.mark_ready(other);
    assert_eq!(scheduler.poll_grant().unwrap().stream, urgent);
    assert_eq!(scheduler.poll_grant(), None);
    scheduler.on_taken(urgent, 100);
    assert_eq!(scheduler.poll_grant(), None);
    scheduler.mark_ready(urgent);
    assert_eq!(scheduler.poll_grant().unwrap().stream, urgent);
}

#[test]
fn no_more_is_pending_than_allowed() {
    let mut scheduler = Scheduler::new(ROOM);
    let id = scheduler.open(priority(""), 1000);
    for _ in 0..2 {
        scheduler.mark_ready(id);
        assert!(scheduler.poll_grant().is_some());
    }
    scheduler.mark_ready(id);
    assert_eq!(scheduler.poll_grant(), None);
    scheduler.on_taken(id, 50);
    assert!(scheduler.poll_grant().is_some());
}

#[test]
fn a_client_that_does_not_read_one_response_gets_the_others() {
    let mut scheduler = Scheduler::new(ROOM);
    let unread = scheduler.open(priority("u=0"), 1000);
    let other = scheduler.open(priority("u=7"), 100);
    for _ in 0..2 {
        scheduler.mark_ready(unread);
        scheduler.poll_grant().unwrap();
    }
    scheduler.mark_ready(other);
    assert_eq!(scheduler.poll_grant(), None);
    assert!(scheduler.on_stall());
    assert_eq!(scheduler.poll_grant().unwrap().stream, other);
    // It gets its place back with the first byte that is read.
    let late = scheduler.open(priority("u=7"), 100);
    scheduler.on_taken(unread, 100);
    scheduler.mark_ready(late);
    assert_eq!(scheduler.poll_grant(), None);
}

#[test]
fn a_closed_response_counts_until_its_bytes_are_taken_and_its_place_is_used_again() {
    let mut scheduler = Scheduler::new(Room {
        pending_bytes_max: CHUNK,
        ..ROOM
    });
    let first = scheduler.open(priority(""), 1000);
    scheduler.mark_ready(first);
    scheduler.poll_grant().unwrap();
    scheduler.close(first);
    scheduler.close(first);
    let second = scheduler.open(priority(""), 100);
    scheduler.mark_ready(second);
    assert_eq!(scheduler.poll_grant(), None);
    scheduler.on_taken(first, 100);
    let third = scheduler.open(priority(""), 100);
    assert_ne!(first, third);
    // Late acceptance for the first is not attributed to the third.
    scheduler.on_taken(first, 100);
    assert_eq!(drain(&mut scheduler, &[second, third]), [0, 1]);
}

#[test]
fn unsent_bytes_below_hold_the_next_chunk_back() {
    let mut scheduler = Scheduler::new(Room {
        pending_bytes_max: usize::MAX,
        unsent_bytes_max: Some(4 * CHUNK),
        ..ROOM
    });
    let id = scheduler.open(priority(""), 1000);
    let grant = |scheduler: &mut Scheduler| {
        scheduler.mark_ready(id);
        scheduler.poll_grant().is_some()
    };
    assert!(grant(&mut scheduler) && grant(&mut scheduler));
    // Bytes in the transport count together with those it has not been given.
    scheduler.on_unsent(CHUNK + 1);
    assert!(!grant(&mut scheduler) && scheduler.is_held_back());
    scheduler.on_unsent(CHUNK);
    assert!(!scheduler.is_held_back() && grant(&mut scheduler));
    assert!(!grant(&mut scheduler));
    scheduler.on_taken(id, CHUNK);
    assert_eq!(scheduler.unsent_max(), 3 * CHUNK);
    scheduler.close(id);
    assert!(!scheduler.is_held_back(), "nobody waits");
}

#[test]
fn priorities_change_while_responses_are_under_way() {
    let mut scheduler = Scheduler::new(ROOM);
    let first = scheduler.open(priority("u=1"), 200);
    let second = scheduler.open(priority("u=2"), 200);
    scheduler.set_priority(first, priority("u=7"));
    assert_eq!(drain(&mut scheduler, &[first, second]), [1, 1, 0, 0]);
}

#[test]
fn a_response_that_waits_for_its_server_keeps_nobody_back() {
    let mut scheduler = Scheduler::new(ROOM);
    let live = scheduler.open(priority("u=0"), 0);
    let other = scheduler.open(priority("u=3"), 100);
    scheduler.mark_ready(other);
    let grant = scheduler.poll_grant().unwrap();
    assert_eq!(grant.stream, other);
    scheduler.on_taken(other, 100);
    scheduler.mark_ready(live);
    assert_eq!(scheduler.poll_grant(), None);
    scheduler.extend(live, 150);
    assert_eq!(drain(&mut scheduler, &[live, other]), [0, 0]);
}
