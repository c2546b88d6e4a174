//! Optional logs for debugging transports: one qlog per QUIC connection, samples of `TCP_INFO`, and
//! the TLS secrets that decrypt a capture.

use rustls::KeyLog;
use serde::Serialize;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The size limit of one log: hours of samples, or the qlog of a page of some gigabytes.
const LOG_BYTES_MAX: u64 = 1 << 30;

/// The logs to write, and their files; the default writes none.
#[derive(Clone, Debug, Default)]
pub struct ConnectionLogs {
    /// The folder of `connection-N.sqlog`, JSON text sequences.
    pub qlog: Option<PathBuf>,
    /// Secrets in the format of `SSLKEYLOGFILE`.
    pub keys: Option<Arc<LineLog>>,
    /// Samples of `TCP_INFO`, one line of JSON each.
    pub tcp_info: Option<Arc<LineLog>>,
}

impl ConnectionLogs {
    /// Flushes all lines to the system; lines that the disk refuses are missing from the files.
    pub fn flush(&self) {
        for log in [&self.keys, &self.tcp_info].into_iter().flatten() {
            let _ = log.flush();
        }
    }

    /// Returns the qlog factory of a QUIC connection, whose times are `now_ns` in milliseconds.
    pub(crate) fn qlog(&self, connection: u64, now_ns: u64) -> Option<Arc<dyn noq::QlogFactory>> {
        let path = self
            .qlog
            .as_ref()?
            .join(format!("connection-{connection}.sqlog"));
        let zero = Instant::now().checked_sub(Duration::from_nanos(now_ns))?;
        Some(Arc::new(Qlog { path, zero }))
    }
}

struct Qlog {
    path: PathBuf,
    zero: Instant,
}

impl noq::QlogFactory for Qlog {
    fn for_connection(
        &self,
        _side: noq::Side,
        _remote: std::net::SocketAddr,
        _initial_dst_cid: noq::ConnectionId,
        _now: Instant,
    ) -> Option<noq::QlogConfig> {
        let file = File::create(&self.path).ok()?;
        let mut config = noq::QlogConfig::new(Box::new(Bounded::new(BufWriter::new(file))));
        config.start_time(self.zero);
        Some(config)
    }
}

/// A file of whole lines that several connections write.
pub struct LineLog(Mutex<Bounded<BufWriter<File>>>);

impl LineLog {
    /// Creates the file.
    ///
    /// # Errors
    /// The error of the system.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = BufWriter::new(File::create(path)?);
        Ok(Self(Mutex::new(Bounded::new(file))))
    }

    /// Flushes everything to the system.
    ///
    /// # Errors
    /// The error of the system.
    pub fn flush(&self) -> io::Result<()> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .flush()
    }

    fn line(&self, text: &[u8]) {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk must not end a connection; the file is then truncated, which readers detect.
        let _ = file.write_all(text).and_then(|()| file.write_all(b"\n"));
    }

    pub(crate) fn json(&self, value: &impl Serialize) {
        if let Ok(text) = serde_json::to_vec(value) {
            self.line(&text);
        }
    }
}

/// Writes lines that are already formatted.
impl Write for &LineLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        LineLog::flush(self)
    }
}

impl fmt::Debug for LineLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LineLog")
    }
}

impl KeyLog for LineLog {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let hex = |bytes: &[u8]| -> String { bytes.iter().map(|b| format!("{b:02x}")).collect() };
        self.line(format!("{label} {} {}", hex(client_random), hex(secret)).as_bytes());
        // Secrets are few, and reading a running lab's capture needs them now.
        let _ = self.flush();
    }
}

/// A writer that refuses bytes beyond a limit.
struct Bounded<W> {
    inner: W,
    left: u64,
}

impl<W> Bounded<W> {
    fn new(inner: W) -> Self {
        let left = LOG_BYTES_MAX;
        Self { inner, left }
    }
}

impl<W: Write> Write for Bounded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self
            .left
            .checked_sub(bytes.len() as u64)
            .ok_or(io::ErrorKind::FileTooLarge)?;
        self.inner.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
