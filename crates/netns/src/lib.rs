//! Namespaces, TUN devices, routes, sysctls and scheduling: everything that needs a privilege from
//! the kernel, and all `unsafe` code of the data plane, is in this crate.
//!
//! A lab is one process tree. [`sandbox::spawn`] clones its process 1 into new namespaces (user if
//! the caller lacks a capability, process ids, mounts, network). When that process ends, the kernel
//! kills every process inside and removes the devices, so nothing is left behind even after
//! SIGKILL. Its main thread is in the client's network namespace; a second thread calls
//! [`unshare_network`] and becomes the server's.
#![allow(unsafe_code)]

mod addresses;
pub mod capabilities;
mod clock;
pub mod confine;
mod cores;
mod device;
mod dial;
mod enter;
mod error;
mod loopback_only;
mod masquerade;
mod netlink;
mod offload;
mod pass;
mod poll;
pub mod probe;
mod realtime;
mod relay;
mod routes;
pub mod sandbox;
mod socket_option;
pub mod socket_times;
mod sysctl;
mod wall_clock;

pub use addresses::local_addresses;
pub use capabilities::is_privileged;
pub use clock::monotonic_now;
pub use cores::{allowed_cores, pin_to_cores, threads_of_core};
pub use device::Device;
pub use device::losses::Lost;
pub use device::read_packet::ReadPacket;
pub use dial::{Dialer, Switchboard, dial_out};
pub use enter::{Side, enter};
pub use error::Error;
pub use loopback_only::{LoopbackOnly, create_loopback_only, create_without_devices};
pub use masquerade::Masquerade;
pub use netlink::Netlink;
pub use offload::{OFFLOAD_HEADER_BYTES, OffloadHeader, READ_BYTES_MAX, Segmentation};
pub use poll::{Stop, WATCHED_MAX, Wait};
pub use realtime::{
    RealtimePriority, current_thread_id, request_realtime, set_timer_slack_minimum,
};
pub use relay::{
    block_signals, end_command, pending_signal, relay_signals_to, unblock_signals, wait_for_child,
};
pub use routes::{RouteDestination, RouteSettings};
pub use sandbox::{in_network_namespace, new_network_namespace, unshare_network};
pub use sysctl::set_sysctl;
