//! Bulk transfers between a second client and a second server, which share the path with everything
//! else. The second server has its own namespace, so that the buffers and windows of the stack
//! under test do not apply to its competitors.

mod config;
mod fairness;
mod flow;
mod meter;

pub use config::{CrossTrafficConfig, FLOWS_MAX, validate};
pub use meter::CrossTrafficSummary;

use crate::Error;
use crate::network::ends::Ends;
use crate::network::topology::{build_second_client, build_second_server};
use eyelevel_netns::Device;
use eyelevel_path::SecondPair;
use flow::Flow;
use meter::Meters;
use socket2::{Domain, Socket, Type};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, mpsc};
use std::thread;

/// The transfers of a lab; they end with it.
pub struct CrossTraffic {
    meters: Arc<Meters>,
    /// The channels that start the two sides' threads.
    go: [mpsc::Sender<()>; 2],
}

impl CrossTraffic {
    /// Creates the second pair's namespaces and all sockets. Nothing is sent before
    /// [`Self::start`].
    pub fn build(kinds: &[CrossTrafficConfig], ends: &Ends) -> Result<(Self, SecondPair), Error> {
        let kinds: Vec<CrossTrafficConfig> = kinds
            .iter()
            .flat_map(|kind| (0..kind.flows).map(|_| *kind))
            .collect();
        let meters = Arc::new(Meters::for_kinds(&kinds));
        let flow = |(number, kind)| Flow { number, kind };
        let flows: Vec<Flow> = kinds.into_iter().enumerate().map(flow).collect();
        let (server_address, client_address) = (ends.second_server(), ends.second_client());
        let (server, go_server) = start_side(
            flows.clone(),
            {
                let ends = ends.clone();
                move || build_second_server(&ends)
            },
            move |flow| create_listener(flow, server_address),
            meters.clone(),
            Flow::serve,
        )?;
        let targets = server.targets;
        let (client, go_client) = start_side(
            flows,
            {
                let ends = ends.clone();
                move || build_second_client(&ends)
            },
            move |flow| {
                let socket = create_socket(flow)?;
                Ok((socket, targets[flow.number]))
            },
            meters.clone(),
            Flow::fetch,
        )?;
        let pair = SecondPair {
            client: (client.device, client_address.into()),
            server: (server.device, server_address.into()),
        };
        let go = [go_server, go_client];
        Ok((Self { meters, go }, pair))
    }

    /// Starts the transfers, once the path carries packets.
    pub fn start(&self) {
        for side in &self.go {
            let _ = side.send(());
        }
        Meters::sample(&self.meters);
    }

    /// Returns the results of the transfers so far.
    pub fn summary(&self) -> CrossTrafficSummary {
        self.meters.summary()
    }
}

/// A flow's socket, and the address where it listens or connects to.
type FlowSocket = (Socket, SocketAddr);

/// One side, ready to start.
struct Side {
    device: Device,
    /// The address of each flow's socket.
    targets: Vec<SocketAddr>,
}

/// Starts a thread in its own network namespace, with a socket for each flow. A message on the
/// returned channel starts one thread per flow there.
fn start_side(
    flows: Vec<Flow>,
    build: impl FnOnce() -> Result<Device, Error> + Send + 'static,
    socket: impl Fn(&Flow) -> Result<FlowSocket, Error> + Send + 'static,
    meters: Arc<Meters>,
    work: fn(Flow, FlowSocket, &Meters),
) -> Result<(Side, mpsc::Sender<()>), Error> {
    let (ready, built) = mpsc::sync_channel::<Result<Side, Error>>(1);
    let (go, started) = mpsc::channel();
    let prepare = move || {
        let device = build()?;
        let sockets = flows.iter().map(socket).collect::<Result<Vec<_>, _>>()?;
        let targets = sockets.iter().map(|(_, target)| *target).collect();
        Ok((Side { device, targets }, flows, sockets))
    };
    thread::spawn(move || {
        let (side, flows, sockets) = match prepare() {
            Ok(made) => made,
            Err(error) => return drop(ready.send(Err(error))),
        };
        let _ = ready.send(Ok(side));
        if started.recv().is_err() {
            return;
        }
        for (flow, socket) in flows.into_iter().zip(sockets) {
            let meters = meters.clone();
            thread::spawn(move || work(flow, socket, &meters));
        }
    });
    let side = built.recv().map_err(|_| Error::Thread {
        part: "cross traffic",
        reason: "a panic, reported above".into(),
    })??;
    Ok((side, go))
}

fn create_listener(flow: &Flow, address: Ipv4Addr) -> Result<FlowSocket, Error> {
    let socket = create_socket(flow)?;
    let listen = || {
        socket.bind(&SocketAddr::from((address, 0)).into())?;
        socket.listen(1)?;
        socket.local_addr()
    };
    let bound = listen().map_err(|error| describe_error(flow, &error))?;
    let address = bound.as_socket().expect("an IPv4 socket");
    Ok((socket, address))
}

/// Creates a socket with the flow's controller, which accepted sockets inherit.
fn create_socket(flow: &Flow) -> Result<Socket, Error> {
    let name = flow.kind.congestion_control.name();
    Socket::new(Domain::IPV4, Type::STREAM, None)
        .and_then(|socket| {
            socket.set_tcp_congestion(name.as_bytes())?;
            Ok(socket)
        })
        .map_err(|error| describe_error(flow, &error))
}

fn describe_error(flow: &Flow, error: &std::io::Error) -> Error {
    let name = flow.kind.congestion_control.name();
    Error::Config(format!(
        "cross traffic with {name}: {error}; as root: modprobe tcp_{name}, or choose another"
    ))
}
