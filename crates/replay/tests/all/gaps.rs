//! A body with more simultaneous gaps than noq keeps chunks for in one stream: our client reads on.
//! The path is in memory, holds a window back until all of it was sent, and has lost every second
//! packet.

use bytes::{Buf, Bytes, BytesMut};
use eyelevel_replay::quic::{H3Connection, client_transport, transport};
use eyelevel_replay::tls::{Authority, Chains, client_config, server_config};
use eyelevel_replay::{CertificateKey, HttpVersion, StackConfig, TlsVersion};
use http::{Request, Response};
use noq::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq::udp::{RecvMeta, Transmit};
use noq::{AsyncUdpSocket, Endpoint, EndpointConfig, TokioRuntime, UdpSender};
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const HOST: &str = "www.example.test";
const PACKET_BYTES: u16 = 1250;
/// The size of the body: more than 4000 packets.
const BODY_BYTES: usize = 5_000_000;
/// A window that lets all of it leave at once.
const WINDOW_BYTES: u64 = 6_000_000;
/// The range of the server's datagrams after the handshake of which half are lost, which makes 1200
/// gaps.
const LOSSY: Range<u64> = 20..2420;
/// The datagram whose sending releases those held back since the first lossy one.
const HELD_UNTIL: u64 = 4000;

#[tokio::test]
async fn a_body_with_more_than_1024_gaps_arrives_intact() {
    let body: Bytes = (0..BODY_BYTES).map(|at| (at ^ (at >> 8)) as u8).collect();
    let (server, client) = endpoints();
    let address = server.local_addr().unwrap();
    let serving = tokio::spawn(serve(server, body.clone()));

    let connection = client.connect(address, HOST).unwrap().await.unwrap();
    let (mut driver, mut session) = h3::client::builder()
        .send_grease(false)
        .build::<_, _, Bytes>(H3Connection::new(connection))
        .await
        .unwrap();
    let driving = tokio::spawn(async move { driver.wait_idle().await });
    let request = Request::get(format!("https://{HOST}/")).body(()).unwrap();
    let mut stream = session.send_request(request).await.unwrap();
    stream.finish().await.unwrap();
    stream.recv_response().await.unwrap();
    let mut received = BytesMut::new();
    while let Some(mut data) = stream.recv_data().await.unwrap() {
        received.extend_from_slice(&data.copy_to_bytes(data.remaining()));
    }

    assert_eq!(received.len(), BODY_BYTES);
    assert!(received == body, "the bytes came in another order");
    drop((stream, session));
    driving.await.unwrap();
    serving.abort();
}

/// Answers every request of one connection with the body.
async fn serve(endpoint: Endpoint, body: Bytes) {
    let connection = endpoint.accept().await.unwrap().await.unwrap();
    let mut connection = h3::server::builder()
        .send_grease(false)
        .build::<_, Bytes>(H3Connection::new(connection))
        .await
        .unwrap();
    while let Ok(Some(resolver)) = connection.accept().await {
        let (_, mut stream) = resolver.resolve_request().await.unwrap();
        stream.send_response(Response::new(())).await.unwrap();
        stream.send_data(body.clone()).await.unwrap();
        stream.finish().await.unwrap();
    }
}

/// Returns server and client with the path between them.
fn endpoints() -> (Endpoint, Endpoint) {
    let stack = StackConfig::tuned("test", HttpVersion::H3);
    let names = vec![vec![HOST.to_owned()]];
    let authority = Authority::new(names, HOST, CertificateKey::Ecdsa, Chains::Short).unwrap();
    let authority = Arc::new(authority);
    let (to_client, from_server) = unbounded_channel();
    let (to_server, from_client) = unbounded_channel();
    let server_address = SocketAddr::from(([10, 0, 0, 1], 443));
    let client_address = SocketAddr::from(([10, 0, 0, 2], 40_000));

    let tls = server_config(authority.clone(), &stack).unwrap();
    let tls = QuicServerConfig::try_from(tls).unwrap();
    let mut config = noq::ServerConfig::with_crypto(Arc::new(tls));
    let mut server_transport = transport(PACKET_BYTES);
    let mut control = noq::congestion::NewRenoConfig::default();
    control.initial_window(WINDOW_BYTES);
    server_transport.congestion_controller_factory(Arc::new(control));
    config.transport_config(Arc::new(server_transport));
    let socket = Socket::new(
        server_address,
        client_address,
        to_client,
        from_client,
        LOSSY,
    );
    let server = endpoint(socket, Some(config));

    let tls = client_config(&authority, HttpVersion::H3, TlsVersion::Tls13).unwrap();
    let tls = QuicClientConfig::try_from(tls).unwrap();
    let mut config = noq::ClientConfig::new(Arc::new(tls));
    config.transport_config(Arc::new(client_transport(PACKET_BYTES)));
    let socket = Socket::new(client_address, server_address, to_server, from_server, 0..0);
    let client = endpoint(socket, None);
    client.set_default_client_config(config);
    (server, client)
}

fn endpoint(socket: Socket, config: Option<noq::ServerConfig>) -> Endpoint {
    let mut common = EndpointConfig::default();
    common.rng_seed(Some([7; 32]));
    Endpoint::new_with_abstract_socket(common, config, Box::new(socket), Arc::new(TokioRuntime))
        .unwrap()
}

/// One end of the path.
#[derive(Debug)]
struct Socket {
    local: SocketAddr,
    remote: SocketAddr,
    sender: Sender,
    incoming: UnboundedReceiver<Vec<u8>>,
}

/// A sender that loses every second datagram of a range.
#[derive(Clone, Debug)]
struct Sender {
    outgoing: UnboundedSender<Vec<u8>>,
    sent: Arc<Mutex<Sent>>,
    lossy: Range<u64>,
}

#[derive(Debug, Default)]
struct Sent {
    datagrams: u64,
    held: Vec<Vec<u8>>,
}

impl Socket {
    fn new(
        local: SocketAddr,
        remote: SocketAddr,
        outgoing: UnboundedSender<Vec<u8>>,
        incoming: UnboundedReceiver<Vec<u8>>,
        lossy: Range<u64>,
    ) -> Self {
        Self {
            local,
            remote,
            sender: Sender {
                outgoing,
                sent: Arc::default(),
                lossy,
            },
            incoming,
        }
    }
}

impl UdpSender for Sender {
    fn poll_send(
        self: Pin<&mut Self>,
        transmit: &Transmit<'_>,
        _: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let mut sent = self.sent.lock().unwrap();
        let number = sent.datagrams;
        sent.datagrams += 1;
        if !self.lossy.contains(&number) || number.is_multiple_of(2) {
            sent.held.push(transmit.contents.to_vec());
        }
        let holds = !self.lossy.is_empty() && (self.lossy.start..HELD_UNTIL).contains(&number);
        if !holds {
            for datagram in sent.held.drain(..) {
                // The other end may have closed.
                let _ = self.outgoing.send(datagram);
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncUdpSocket for Socket {
    fn create_sender(&self) -> Pin<Box<dyn UdpSender>> {
        Box::pin(self.sender.clone())
    }

    fn poll_recv(
        &mut self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let Some(datagram) = ready!(self.incoming.poll_recv(context)) else {
            return Poll::Pending;
        };
        buffers[0][..datagram.len()].copy_from_slice(&datagram);
        meta[0].addr = self.remote;
        meta[0].len = datagram.len();
        meta[0].stride = datagram.len();
        meta[0].dst_ip = Some(self.local.ip());
        Poll::Ready(Ok(1))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.local)
    }

    fn may_fragment(&self) -> bool {
        false
    }
}
