use super::first_flight::ReadingTimer;
use super::options::{TcpInfo, tcp_info};
use super::record::ConnectionRecord;
use super::sampler::Sampler;
use super::turns::Turns;
use super::unsent::Unsent;
use crate::scheduler::Gate;
use crate::tls::HelloWatch;
use crate::{Event, Service};
use eyelevel_archive::Scheme;
use socket2::SockRef;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A connection's socket that reports what was in force when it is dropped: the kernel's counts are
/// complete then, and every kind of end is covered.
pub(super) struct Observed {
    stream: TcpStream,
    /// The hello of a secure connection.
    hello: Option<HelloWatch>,
    sampler: Option<Sampler>,
    service: Arc<Service>,
    record: Arc<Mutex<ConnectionRecord>>,
    /// The connection's turns, set once the handshake is over.
    turns: Option<Turns>,
    /// The timer of readings while the first flight is under way.
    readings: Option<ReadingTimer>,
    unsent: Unsent,
}

impl Observed {
    /// Wraps an accepted socket and reads its state before anything was sent.
    pub fn new(
        stream: TcpStream,
        service: Arc<Service>,
        protocol: &'static str,
        scheme: Scheme,
    ) -> (Self, Arc<Mutex<ConnectionRecord>>) {
        let info = tcp_info(&stream).ok();
        let (connection, accepted_at_ns) = (service.next_connection(), service.now_ns());
        let log = service.logs().tcp_info.clone();
        let mut sampler = log.map(|log| Sampler::new(log, connection));
        if let Some((sampler, info)) = sampler.as_mut().zip(info.as_ref()) {
            sampler.write(accepted_at_ns, "accepted", info);
        }
        let record = ConnectionRecord::accepted(
            (connection, accepted_at_ns),
            stream.peer_addr().ok(),
            info.as_ref(),
            (protocol, scheme),
        );
        let record = Arc::new(Mutex::new(record));
        let observed = Self {
            stream,
            hello: (scheme == Scheme::Https).then(HelloWatch::default),
            sampler,
            service,
            record: record.clone(),
            turns: None,
            readings: None,
            unsent: Unsent::default(),
        };
        (observed, record)
    }

    /// Returns when the handshake was complete, and the kernel's state of the connection then.
    pub fn ready(&self) -> (u64, Option<TcpInfo>) {
        let (now_ns, info) = (self.service.now_ns(), tcp_info(&self.stream).ok());
        if let Some((sampler, info)) = self.sampler.as_ref().zip(info.as_ref()) {
            sampler.write(now_ns, "ready", info);
        }
        (now_ns, info)
    }

    /// Corks the socket: only full segments leave until a turn of the connection's task has written
    /// nothing. The returned turns must drive the task.
    pub fn cork(&mut self) -> Turns {
        let turns = Turns::default();
        // If the kernel refuses, segments are short as without it.
        if SockRef::from(&self.stream).set_tcp_cork(true).is_ok() {
            self.turns = Some(turns.clone());
        }
        turns
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        if std::thread::panicking() {
            record.on_server_error("the server panicked");
        }
        let info = tcp_info(&self.stream).ok();
        if let Some((sampler, info)) = self.sampler.as_ref().zip(info.as_ref()) {
            sampler.write(self.service.now_ns(), "closed", info);
        }
        let mut event = record.report(&self.stream, info.as_ref(), self.service.now_ns());
        let hello = self.hello.as_ref();
        event.in_force.early_data_offered = hello.and_then(HelloWatch::early_data_offered);
        event.in_force.unsent_bytes_max = self.gate().map(|gate| gate.unsent_max() as u64);
        self.service.emit(Event::Connection(Box::new(event)));
    }
}

impl Observed {
    fn sample(&self) {
        if let (Some(sampler), Ok(info)) = (&self.sampler, tcp_info(&self.stream)) {
            sampler.write(self.service.now_ns(), "sample", &info);
        }
    }

    fn on_written(
        &mut self,
        context: &mut Context<'_>,
        requested: usize,
        written: &Poll<io::Result<usize>>,
    ) {
        let taken = match written {
            Poll::Ready(Ok(bytes)) => *bytes,
            _ => 0,
        };
        self.unsent.on_written(requested, taken);
        if let (Some(turns), Poll::Ready(Ok(_))) = (&self.turns, written) {
            turns.on_written();
        }
        if let Some(gate) = self.gate() {
            self.unsent.report_to(&self.stream, gate, context);
        }
        self.update_first_flight(context);
    }

    fn gate(&self) -> Option<&Gate> {
        self.turns.as_ref().and_then(Turns::gate)
    }

    /// Updates the first flight; while it is under way the task is woken for more readings.
    fn update_first_flight(&mut self, context: &mut Context<'_>) {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let flight = &mut record.first_flight;
        if !flight.is_open() {
            return;
        }
        let Ok(info) = tcp_info(&self.stream) else {
            return;
        };
        flight.on_reading(&info, self.service.now_ns());
        if !flight.is_under_way() {
            self.readings = None;
        } else if self.readings.is_none() {
            let rtt_us = info.rtt_us_min.or(info.rtt_us_smoothed).unwrap_or_default();
            let mut readings = ReadingTimer::new(Duration::from_micros(rtt_us.into()));
            let _ = readings.poll_due(context);
            self.readings = Some(readings);
        }
    }
}

impl AsyncRead for Observed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // The connection's server waits for requests all the time, so this is called at every tick.
        if let Some(sampler) = &mut self.sampler
            && sampler.poll_due(context).is_ready()
        {
            self.sample();
        }
        if let Some(readings) = &mut self.readings
            && readings.poll_due(context).is_ready()
        {
            self.update_first_flight(context);
        }
        if let Some(gate) = self.gate()
            && gate.room().unsent_bytes_max.is_some()
        {
            self.unsent.report_to(&self.stream, gate, context);
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if let Some(hello) = &mut self.hello
            && hello.early_data_offered().is_none()
        {
            hello.on_records(&buffer.filled()[before..]);
        }
        read
    }
}

impl AsyncWrite for Observed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, data);
        self.on_written(context, data.len(), &written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        let requested = slices.iter().map(|slice| slice.len()).sum();
        self.on_written(context, requested, &written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(turns) = &self.turns
            && turns.poll_release().is_ready()
        {
            // Flushes what a corked socket holds (tcp(7)); it stays corked.
            self.stream.set_nodelay(true)?;
            self.update_first_flight(context);
        }
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
