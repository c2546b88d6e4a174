use super::Http3;
use crate::scheduler::Priority;
use bytes::Bytes;
use eyelevel_http3::{Control, ControlEvent, Error, Kind, Side};
use noq::{ReadError, RecvStream};
use std::sync::{Arc, PoisonError};

/// The purpose of a client's stream.
enum Purpose {
    /// Unknown so far, with its first bytes.
    Unknown(Vec<u8>),
    Control(Box<Control>),
    /// A QPACK stream, or one whose bytes are ignored.
    Other(Kind),
}

impl Http3 {
    /// Reads one of the client's unidirectional streams to its end.
    pub(super) async fn read_unidirectional(self: Arc<Self>, mut stream: RecvStream) {
        let mut purpose = Purpose::Unknown(Vec::new());
        loop {
            let read = match stream.read_chunk(usize::MAX).await {
                Ok(Some(bytes)) => self.on_bytes(&mut purpose, bytes),
                Ok(None) | Err(ReadError::Reset(_)) => return self.on_end(&purpose),
                Err(_) => return,
            };
            if let Err(error) = read {
                return self.fail(error);
            }
        }
    }

    fn on_bytes(&self, purpose: &mut Purpose, mut bytes: Bytes) -> Result<(), Error> {
        if let Purpose::Unknown(head) = purpose {
            let mut streams = self
                .unidirectional
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *purpose = match streams.kind(head, &mut bytes)? {
                None => return Ok(()),
                Some(Kind::Control) => Purpose::Control(Box::new(Control::new(Side::Client))),
                Some(kind) => Purpose::Other(kind),
            };
        }
        match purpose {
            Purpose::Control(control) => {
                while let Some(event) = control.next(&mut bytes)? {
                    self.on_control(event);
                }
                Ok(())
            }
            Purpose::Other(kind @ (Kind::Encoder | Kind::Decoder)) => {
                self.compression.on_instructions(*kind, &bytes)
            }
            _ => Ok(()),
        }
    }

    fn on_control(&self, event: ControlEvent) {
        match event {
            ControlEvent::Settings(settings) => self.compression.on_settings(&settings),
            ControlEvent::PriorityUpdate(stream, field) => {
                if let Ok(field) = std::str::from_utf8(&field) {
                    self.gate.update(stream, Priority::parse(field));
                }
            }
            // It names pushes, of which there are none.
            ControlEvent::GoAway(_) => {}
        }
    }

    fn on_end(&self, purpose: &Purpose) {
        let ended = match purpose {
            Purpose::Unknown(_) => Ok(()),
            Purpose::Control(_) => Kind::Control.on_end(),
            Purpose::Other(kind) => kind.on_end(),
        };
        if let Err(error) = ended {
            self.fail(error);
        }
    }
}
