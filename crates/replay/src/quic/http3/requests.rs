//! Reads the requests of a connection and writes the service's responses.

use super::incoming::{Failure, Incoming};
use super::{Http3, number};
use crate::early_hints::write_h3_section;
use crate::exact_wait::wait_exactly;
use crate::response::Reply;
use crate::scheduler::ReplyBody;
use crate::service::RequestHead;
use bytes::Bytes;
use eyelevel_http3::{Code, Scope, data_head, headers};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use noq::{RecvStream, SendStream, WriteError};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

impl Http3 {
    /// Answers one request and reads it to its end.
    pub(super) async fn respond(
        self: Arc<Self>,
        mut send: SendStream,
        receive: RecvStream,
        id: u64,
    ) {
        let mut incoming = Incoming::new(receive, id, &self.compression);
        let answered = match incoming.read_head().await {
            Ok(Some((request, head_bytes))) => {
                self.answer(&mut incoming, &mut send, id, &request, head_bytes)
                    .await
            }
            Ok(None) => self.refuse_head(&mut incoming, &mut send, id).await,
            Err(failure) => Err(failure),
        };
        if let Err(Failure::Protocol(error)) = answered {
            if error.scope == Scope::Connection {
                return self.fail(error);
            }
            incoming.refuse(number(error.code));
            let _ = send.reset(number(error.code));
        } else if answered.is_err() {
            let _ = send.reset(number(Code::RequestCancelled));
        }
    }

    async fn answer(
        &self,
        incoming: &mut Incoming<'_>,
        send: &mut SendStream,
        id: u64,
        request: &Request<()>,
        head_bytes: u64,
    ) -> Result<(), Failure> {
        let started_ns = self.service.now_ns();
        let has_body = !matches!(*request.method(), Method::GET | Method::HEAD);
        let body = if has_body {
            incoming.read_rest(request.headers(), true).await?
        } else {
            Bytes::new()
        };
        let head = RequestHead {
            method: request.method(),
            uri: request.uri(),
            headers: request.headers(),
            head_bytes: Some(head_bytes),
        };
        let answering = self.service.answer(self.entrance, &head, &body, started_ns);
        let reply = answering.await;
        let rest = async {
            if !has_body {
                incoming.read_rest(request.headers(), false).await?;
            }
            Ok(())
        };
        // The request is read to its end during the response: a server that stops reading must ask
        // the client to stop sending (RFC 9114, section 4.1.2).
        let (rest, _) = tokio::join!(rest, self.send(send, id, request.headers(), reply));
        match rest {
            Err(Failure::Gone) => Ok(()),
            other => other,
        }
    }

    async fn send(
        &self,
        to: &mut SendStream,
        id: u64,
        requested: &HeaderMap,
        reply: Reply,
    ) -> Result<(), WriteError> {
        if let Some(link) = &reply.early_hints {
            let section = write_h3_section(id, link);
            self.compression.on_interim_head(section.len());
            self.write(to, &headers(&section)).await?;
        }
        if !reply.think.is_zero() {
            wait_exactly(reply.think).await;
        }
        let priority = self.service.priority(requested);
        let mut body = ReplyBody::gated(reply.body, reply.stream, &self.gate, Some(id), priority);
        let section = self
            .compression
            .encode(id, reply.status, &reply.headers)
            .await;
        self.write(to, &headers(&section)).await?;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else {
                // What was sent is not the whole.
                let _ = to.reset(number(Code::InternalError));
                return Ok(());
            };
            if let Ok(data) = frame.into_data() {
                self.write(to, &data_head(data.len())).await?;
                self.write(to, &data).await?;
            }
        }
        // It fails only if the client accepts no more of it.
        let _ = to.finish();
        Ok(())
    }

    /// Writes to a response's stream; reports to the gate how much QUIC accepts, and when it
    /// accepts no more.
    async fn write(&self, to: &mut SendStream, mut bytes: &[u8]) -> Result<(), WriteError> {
        while !bytes.is_empty() {
            let written = poll_fn(|context| {
                let write = Pin::new(&mut *to).poll_write(context, bytes);
                if write.is_pending() {
                    self.gate.on_refused(to.id().into());
                }
                write
            });
            let written = written.await?;
            self.gate.on_written(to.id().into(), written);
            bytes = &bytes[written..];
        }
        Ok(())
    }

    /// Refuses a head that is larger than allowed, as hyper does over HTTP/2.
    async fn refuse_head(
        &self,
        incoming: &mut Incoming<'_>,
        send: &mut SendStream,
        id: u64,
    ) -> Result<(), Failure> {
        let nothing = HeaderMap::new();
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        let section = self.compression.encode(id, status, &nothing).await;
        if self.write(send, &headers(&section)).await.is_ok() {
            let _ = send.finish();
        }
        incoming.read_rest(&nothing, false).await.map(drop)
    }
}
