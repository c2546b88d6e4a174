//! HTTP/3 over QUIC.

mod adapter;
mod controller;
mod endpoint;
mod http3;
mod marks;
mod meter;
mod report;
mod runtime;
mod sent_frames;
mod serve;
mod session;

pub use adapter::{H3Connection, H3Opener};
pub use endpoint::{QUIC_VERSION, client_transport, transport};

use crate::tls::ByAddress;
use crate::{Ecn, ReplayError, Service, StackConfig};
use endpoint::Configurator;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::watch;

/// A bound QUIC endpoint that does not serve yet.
pub(crate) struct Listener {
    endpoint: noq::Endpoint,
    configurator: Configurator,
}

impl Listener {
    /// Binds the endpoint, in the calling thread's network namespace and runtime.
    pub fn bind(
        address: SocketAddr,
        tls: ByAddress,
        stack: &StackConfig,
    ) -> Result<Self, ReplayError> {
        let configurator = Configurator::new(tls, stack)?;
        Ok(Self {
            endpoint: endpoint::bind(address, Some(configurator.base()), stack.ecn)?,
            configurator,
        })
    }

    /// Returns the bound address.
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.endpoint.local_addr().ok()
    }

    /// Serves until `stopping` becomes true, or the future is dropped.
    pub fn serve(
        self,
        stack: Arc<StackConfig>,
        service: Arc<Service>,
        stopping: watch::Receiver<bool>,
    ) -> impl Future<Output = ()> + Send + 'static {
        serve::accept(self.endpoint, self.configurator, stack, service, stopping)
    }
}

/// Creates a client's endpoint on a port chosen by the kernel.
pub(crate) fn client_endpoint(address: SocketAddr, ecn: Ecn) -> Result<noq::Endpoint, ReplayError> {
    endpoint::bind(address, None, ecn)
}
