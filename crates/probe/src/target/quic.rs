use super::{TargetConfig, Work, socket};
use crate::ProbeError;
use crate::quic::{
    CONTROL_STREAM, RESPONSE_200, ServerCrypto, SessionFacts, to_version1, unpaced_transport,
};
use noq::udp::RecvMeta;
use noq::{
    AsyncUdpSocket, Connection, Endpoint, EndpointConfig, Incoming, Runtime, ServerConfig,
    TokioRuntime, UdpSender,
};
use socket2::{Protocol, Type};
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::task::JoinSet;

const CLIENT_TIMEOUT: Duration = Duration::from_secs(60);
const CONNECTIONS_MAX: usize = 20_000;
const REQUEST_BYTES_MAX: usize = 16 * 1024;
/// The receive buffer: many probes arrive at once, and a lost one costs its client a second.
const RECEIVE_BUFFER_BYTES: usize = 4 * 1024 * 1024;

pub(super) fn endpoint(
    config: &TargetConfig,
    address: SocketAddr,
    tls: rustls::ServerConfig,
) -> Result<Endpoint, ProbeError> {
    let listen = || {
        let socket = socket(address, Type::DGRAM, Protocol::UDP)?;
        let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES);
        socket.bind(&address.into())?;
        let runtime = Arc::new(TokioRuntime);
        let socket = Renumbering(runtime.wrap_udp_socket(socket.into())?);
        let mut server = ServerConfig::with_crypto(Arc::new(ServerCrypto(Arc::new(tls))));
        server.transport_config(Arc::new(unpaced_transport()));
        let mut endpoint = EndpointConfig::default();
        endpoint.supported_versions(config.quic_versions.clone());
        Endpoint::new_with_abstract_socket(endpoint, Some(server), Box::new(socket), runtime)
    };
    listen().map_err(ProbeError::system("listen on UDP", address))
}

pub(super) async fn accept(endpoint: Endpoint, demands_retry: bool, work: Arc<Work>) {
    let mut connections = JoinSet::new();
    while let Some(incoming) = endpoint.accept().await {
        while connections.try_join_next().is_some() {}
        if connections.len() >= CONNECTIONS_MAX {
            incoming.refuse();
        } else if demands_retry && !incoming.remote_address_validated() {
            let _ = incoming.retry();
        } else {
            let served = serve(incoming, work.clone());
            connections
                .spawn(async move { drop(tokio::time::timeout(CLIENT_TIMEOUT, served).await) });
        }
    }
}

async fn serve(incoming: Incoming, work: Arc<Work>) -> Result<(), noq::ConnectionError> {
    let mut connecting = incoming.accept()?;
    // Waits for the whole ClientHello: without the client's parameters no stream opens.
    connecting.handshake_data().await?;
    let connection = match connecting.into_0rtt() {
        Ok((connection, _)) => connection,
        Err(connecting) => connecting.await?,
    };
    if let Err(error) = answer(&connection).await {
        connection.close(0_u32.into(), error.to_string().as_bytes());
    }
    connection.closed().await;
    let data = connection.handshake_data();
    if let Some(facts) = data.and_then(|data| data.downcast::<SessionFacts>().ok()) {
        work.note_quic(facts.crypto_ns);
    }
    Ok(())
}

async fn answer(connection: &Connection) -> io::Result<()> {
    let mut control = connection.open_uni().await?;
    control.write_all(&CONTROL_STREAM).await?;
    let (mut output, mut input) = connection.accept_bi().await?;
    input
        .read_to_end(REQUEST_BYTES_MAX)
        .await
        .map_err(io::Error::other)?;
    output.write_all(&RESPONSE_200).await?;
    output.finish().map_err(io::Error::other)?;
    // Kept until the client has closed: a dropped control stream is an error of HTTP/3.
    connection.closed().await;
    drop(control);
    Ok(())
}

/// A socket that renumbers version 2's packet types to version 1's.
#[derive(Debug)]
struct Renumbering(Box<dyn AsyncUdpSocket>);

impl AsyncUdpSocket for Renumbering {
    fn create_sender(&self) -> Pin<Box<dyn UdpSender>> {
        self.0.create_sender()
    }

    fn poll_recv(
        &mut self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(self.0.poll_recv(context, buffers, meta))?;
        for (buffer, meta) in buffers.iter_mut().zip(meta.iter()).take(count) {
            let length = meta.len.min(buffer.len());
            for datagram in buffer[..length].chunks_mut(meta.stride.max(1)) {
                to_version1(datagram);
            }
        }
        Poll::Ready(Ok(count))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    fn max_receive_segments(&self) -> NonZeroUsize {
        self.0.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.0.may_fragment()
    }
}
