//! An HTTP/3 client whose streams a test writes by hand, with the compression of `eyelevel-http3`.

use super::{Recorded, Running, pattern, site, stack};
use bytes::Bytes;
use eyelevel_http3::qpack::{Decoded, Decoder, Encoder};
use eyelevel_http3::{
    Control, ControlEvent, Kind, Message, MessageEvent, Settings, Side, Unidirectional, head,
    headers,
};
use eyelevel_replay::quic::transport;
use eyelevel_replay::tls::client_config;
use eyelevel_replay::{HttpVersion, StackConfig, TlsVersion};
use http::{HeaderMap, Method, Uri};
use noq::crypto::rustls::QuicClientConfig;
use noq::{Connection, ConnectionError, ReadError, RecvStream, SendStream};
use std::sync::{Arc, Mutex};

pub const SETTINGS: Settings = Settings {
    table_bytes_max: 65_536,
    blocked_streams_max: 100,
    field_section_bytes_max: None,
};
const SECTION_BYTES_MAX: u64 = 1 << 18;

pub const HOST: &str = "www.example.test";
pub const URL: &str = "https://www.example.test/0";
pub const BODY_BYTES: usize = 3000;

/// Starts a server of one style sheet.
pub fn running(change: impl FnOnce(&mut StackConfig)) -> Running {
    let recorded = Recorded {
        fields: "content-type: text/css\r\nx-of-the-site: a value that comes with each of them\r\n\
                 cache-control: public, max-age=12345\r\n"
            .into(),
        ..Recorded::new(URL, pattern(BODY_BYTES, 1))
    };
    let mut stack = stack(HttpVersion::H3);
    change(&mut stack);
    Running::start(site(&[recorded]), stack)
}

/// Returns the fields of a request, of which only one differs from request to request.
pub fn cookie(value: &str) -> HeaderMap {
    let agent = "an agent of eighty letters, so that it is worth the while to say it only once, ok";
    [("user-agent", agent), ("x-cookie", value)]
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .into_iter()
        .collect()
}

/// Asserts that the style sheet arrived intact.
pub fn is_whole(answer: &Answer) {
    assert_eq!((answer.status, answer.body.len()), (200, BODY_BYTES));
    assert!(!answer.has_trailers);
}

/// A connection, and what the server sent besides its responses.
pub struct H3 {
    pub connection: Connection,
    pub control: SendStream,
    pub to_decoder: SendStream,
    pub to_encoder: SendStream,
    pub encoder: Encoder,
    pub received: Arc<Mutex<Received>>,
    _endpoint: noq::Endpoint,
}

pub struct Received {
    decoder: Decoder,
    pub settings: Option<Settings>,
    pub goaway: Option<u64>,
    pub encoder_bytes: usize,
    pub decoder_bytes: Vec<u8>,
}

/// A response as it arrived.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub section_bytes: usize,
    pub has_trailers: bool,
    /// The fields of the interim responses before it.
    pub interim: Vec<HeaderMap>,
}

async fn connected(
    running: &Running,
    host: &str,
    change: impl FnOnce(&mut noq::TransportConfig),
) -> (noq::Endpoint, Connection) {
    let origin = &running.site.origins()[0];
    let tls = client_config(&running.authority, HttpVersion::H3, TlsVersion::Tls13).unwrap();
    let endpoint = noq::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    let mut config = noq::ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).unwrap()));
    let mut own = transport(1200);
    change(&mut own);
    config.transport_config(Arc::new(own));
    let connecting = endpoint.connect_with(config, running.address(origin), host);
    let connection = connecting.unwrap().await.unwrap();
    (endpoint, connection)
}

/// Opens a connection on which the client has sent nothing so far.
pub async fn silent(running: &Running, host: &str) -> (noq::Endpoint, Connection) {
    connected(running, host, |_| ()).await
}

impl H3 {
    /// Connects and sends these settings of the client at once.
    pub async fn connect(running: &Running, host: &str, settings: Settings) -> Self {
        Self::over(connected(running, host, |_| ()).await, settings).await
    }

    /// Connects with windows of that size, for a stream and for all of them.
    pub async fn with_windows(running: &Running, host: &str, stream: u32, all: u32) -> Self {
        let over = connected(running, host, |transport| {
            transport.stream_receive_window(stream.into());
            transport.receive_window(all.into());
        });
        Self::over(over.await, SETTINGS).await
    }

    async fn over((endpoint, connection): (noq::Endpoint, Connection), settings: Settings) -> Self {
        let open = async |kind: Kind, rest: &[u8]| {
            let mut stream = connection.open_uni().await.unwrap();
            stream
                .write_all(&[kind.head(), rest].concat())
                .await
                .unwrap();
            stream
        };
        let control = open(Kind::Control, &settings.frame()).await;
        let to_decoder = open(Kind::Encoder, &[]).await;
        let to_encoder = open(Kind::Decoder, &[]).await;
        let received = Arc::new(Mutex::new(Received {
            decoder: Decoder::new(settings.table_bytes_max, settings.blocked_streams_max),
            settings: None,
            goaway: None,
            encoder_bytes: 0,
            decoder_bytes: Vec::new(),
        }));
        tokio::spawn(listen(connection.clone(), received.clone()));
        Self {
            connection,
            control,
            to_decoder,
            to_encoder,
            encoder: Encoder::new(),
            received,
            _endpoint: endpoint,
        }
    }

    /// Waits for the server's settings; our encoder then uses a table of at most that size.
    pub async fn use_table(&mut self, table_bytes: u64) -> Settings {
        let settings = self.until(|received| received.settings).await;
        let (offered, blocked) = (settings.table_bytes_max, settings.blocked_streams_max);
        self.encoder.on_settings(offered, table_bytes, blocked);
        settings
    }

    /// Waits until the server has sent what `found` accepts.
    pub async fn until<T>(&self, mut found: impl FnMut(&Received) -> Option<T>) -> T {
        loop {
            if let Some(found) = found(&self.received.lock().unwrap()) {
                return found;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Encodes the field section of a request on the next stream, and returns it with its inserts.
    pub fn section(&mut self, stream: u64, url: &str, fields: &HeaderMap) -> (Vec<u8>, Vec<u8>) {
        let uri: Uri = url.parse().unwrap();
        let told = std::mem::take(&mut self.received.lock().unwrap().decoder_bytes);
        self.encoder.on_decoder_stream(&told).unwrap();
        let lines = head::request_lines(&Method::GET, &uri, fields);
        let section = self.encoder.encode(stream, lines, true);
        (section, self.encoder.take_instructions())
    }

    /// Requests a URL and reads the response.
    pub async fn get(&mut self, url: &str, fields: &HeaderMap) -> Answer {
        let (mut send, receive) = self.connection.open_bi().await.unwrap();
        let (section, inserts) = self.section(id(&receive), url, fields);
        self.to_decoder.write_all(&inserts).await.unwrap();
        send.write_all(&headers(&section)).await.unwrap();
        send.finish().unwrap();
        self.answer(receive).await.unwrap()
    }

    /// Reads a response to its end.
    pub async fn answer(&mut self, mut receive: RecvStream) -> Result<Answer, ReadError> {
        let mut message = Message::new(Side::Server, SECTION_BYTES_MAX);
        let mut found: Option<Answer> = None;
        let mut interim = Vec::new();
        while let Some(mut bytes) = receive.read_chunk(usize::MAX).await? {
            while let Some(event) = message.next(&mut bytes).unwrap() {
                match event {
                    MessageEvent::Head(section) => {
                        let head = self.head(id(&receive), &section).await;
                        if head.status < 200 {
                            interim.push(head.headers);
                            message = Message::new(Side::Server, SECTION_BYTES_MAX);
                        } else {
                            found = Some(head);
                        }
                    }
                    MessageEvent::Data(data) => {
                        found.as_mut().unwrap().body.extend_from_slice(&data);
                    }
                    MessageEvent::Trailers(_) => found.as_mut().unwrap().has_trailers = true,
                    MessageEvent::TooLong => panic!("a section beyond any"),
                }
            }
        }
        message.on_end().unwrap();
        let found = found.unwrap();
        Ok(Answer { interim, ..found })
    }

    async fn head(&mut self, stream: u64, section: &[u8]) -> Answer {
        let fields = loop {
            let decoded = {
                let mut received = self.received.lock().unwrap();
                received
                    .decoder
                    .decode(stream, section, SECTION_BYTES_MAX)
                    .unwrap()
            };
            match decoded {
                Decoded::Fields(fields) => break fields,
                Decoded::Blocked => tokio::task::yield_now().await,
                Decoded::TooLarge => panic!("a section beyond any"),
            }
        };
        let told = self.received.lock().unwrap().decoder.take_instructions();
        self.to_encoder.write_all(&told).await.unwrap();
        let (parts, ()) = head::response(fields).unwrap().into_parts();
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: Vec::new(),
            section_bytes: section.len(),
            has_trailers: false,
            interim: Vec::new(),
        }
    }

    /// Returns the code and reason with which the server closes the connection.
    pub async fn closed(&self) -> (u64, String) {
        closed(&self.connection).await
    }
}

/// Returns the code and reason with which the server closes the connection.
pub async fn closed(connection: &Connection) -> (u64, String) {
    match connection.closed().await {
        ConnectionError::ApplicationClosed(close) => (
            close.error_code.into_inner(),
            String::from_utf8_lossy(&close.reason).into_owned(),
        ),
        other => panic!("{other}"),
    }
}

pub fn id(stream: &RecvStream) -> u64 {
    u64::from(noq::VarInt::from(stream.id()))
}

/// Reads the server's own streams for as long as the connection lives.
async fn listen(connection: Connection, received: Arc<Mutex<Received>>) {
    let kinds = Arc::new(Mutex::new(Unidirectional::new(Side::Server)));
    while let Ok(stream) = connection.accept_uni().await {
        tokio::spawn(read_stream(stream, kinds.clone(), received.clone()));
    }
}

async fn read_stream(
    mut stream: RecvStream,
    kinds: Arc<Mutex<Unidirectional>>,
    received: Arc<Mutex<Received>>,
) {
    let (mut kind, mut first) = (None, Vec::new());
    let mut control = Control::new(Side::Server);
    while let Ok(Some(mut bytes)) = stream.read_chunk(usize::MAX).await {
        if kind.is_none() {
            kind = kinds.lock().unwrap().kind(&mut first, &mut bytes).unwrap();
        }
        let Some(kind) = kind else { continue };
        on_bytes(&mut received.lock().unwrap(), kind, &mut control, bytes);
    }
}

fn on_bytes(received: &mut Received, kind: Kind, control: &mut Control, mut bytes: Bytes) {
    match kind {
        Kind::Control => {
            while let Some(event) = control.next(&mut bytes).unwrap() {
                match event {
                    ControlEvent::Settings(settings) => received.settings = Some(settings),
                    ControlEvent::GoAway(id) => received.goaway = Some(id),
                    ControlEvent::PriorityUpdate(..) => panic!("of a server"),
                }
            }
        }
        Kind::Encoder => {
            received.encoder_bytes += bytes.len();
            received.decoder.on_encoder_stream(&bytes).unwrap();
        }
        Kind::Decoder => received.decoder_bytes.extend_from_slice(&bytes),
        Kind::Unknown => {}
    }
}
