//! A path reads the packets that wait when it starts, here after it was stopped.

use eyelevel_netns::{
    Device, Netlink, RouteDestination, RouteSettings, is_privileged, monotonic_now, unshare_network,
};
use eyelevel_path::{Ends, Path, PathSettings, PathSummary};
use std::net::{IpAddr, UdpSocket};
use std::thread;
use std::time::Duration;

const CLIENT: &str = "100.64.0.2";
const SERVER: &str = "100.64.0.1";
const SENT: u64 = 200;

/// Runs a path that was stopped before it began to read what the client had sent; returns also a
/// time by which all of it had waited.
fn stopped_before_it_read() -> (PathSummary, Duration) {
    unshare_network().unwrap();
    let mut netlink = Netlink::open().unwrap();
    let client = Device::create("client").unwrap();
    let index = netlink.link_index("client").unwrap();
    netlink.set_up(index, None).unwrap();
    let own: IpAddr = CLIENT.parse().unwrap();
    netlink.add_address(index, own).unwrap();
    let route = RouteDestination::Default;
    netlink
        .add_route(index, route, own, &RouteSettings::default())
        .unwrap();
    let settings = PathSettings {
        down: &[],
        up: &[],
        seed: 1,
        logs: None,
        capture: None,
        windows: None,
        watch: None,
    };
    let ends = Ends {
        client,
        server: Device::create("server").unwrap(),
        second: None,
    };
    let (path, stopper) = Path::new(ends, settings).unwrap();
    let socket = UdpSocket::bind((CLIENT, 0)).unwrap();
    for _ in 0..SENT {
        socket.send_to(b"x", (SERVER, 9)).unwrap();
    }
    stopper.stop();
    let sent = monotonic_now();
    let until_read = thread::spawn(monotonic_now).join().unwrap() - sent;
    (path.run(false).unwrap(), until_read)
}

#[test]
fn packets_sent_before_the_stop_are_counted() {
    if !is_privileged() {
        eprintln!("not tried: a network of its own needs root");
        return;
    }
    // A thread of its own: it stays in the network that it makes.
    let (summary, waited) = thread::spawn(stopped_before_it_read).join().unwrap();
    assert!(summary.up.packets >= SENT, "{:?}", summary.up);
    assert_eq!(summary.down.packets, 0);
    // Each has its own time of arrival, and the model had not advanced before it was read.
    let arrival = &summary.up.arrival;
    assert_eq!(arrival.unstamped_packets, 0);
    let late_us = arrival.lateness.lateness_us_p50.unwrap();
    assert!(
        late_us >= waited.as_secs_f64() * 1e6,
        "{late_us} us, {waited:?}"
    );
}
