//! A descriptor and some text over a UNIX socket.

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// A process id, or an error's sentence.
const MESSAGE_BYTES_MAX: usize = 1000;

/// Room for one descriptor.
const CONTROL_BYTES: usize = rustix::cmsg_space!(ScmRights(1));

pub(crate) fn send(
    socket: &UnixStream,
    text: &[u8],
    descriptor: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let text = &text[..text.len().min(MESSAGE_BYTES_MAX)];
    let descriptors: Vec<_> = descriptor.into_iter().collect();
    let mut room = [MaybeUninit::uninit(); CONTROL_BYTES];
    let mut control = SendAncillaryBuffer::new(&mut room);
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    sendmsg(
        socket,
        &[IoSlice::new(text)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

pub(crate) fn receive(socket: &UnixStream) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
    let mut text = vec![0; MESSAGE_BYTES_MAX];
    let mut room = [MaybeUninit::uninit(); CONTROL_BYTES];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let parts = &mut [IoSliceMut::new(&mut text)];
    let received = recvmsg(socket, parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    text.truncate(received.bytes);
    let descriptor = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    Ok((text, descriptor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::os::fd::AsFd;

    #[test]
    fn a_listener_goes_from_one_holder_to_another() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        send(&theirs, b"42", Some(listener.as_fd())).unwrap();
        drop(listener);
        let (text, descriptor) = receive(&ours).unwrap();
        let received = TcpListener::from(descriptor.unwrap());
        assert_eq!(
            (&text[..], received.local_addr().unwrap()),
            (&b"42"[..], address)
        );
        TcpStream::connect(address).unwrap();
        send(&theirs, b"no", None).unwrap();
        assert!(matches!(receive(&ours).unwrap(), (text, None) if text == b"no"));
        drop(theirs);
        assert!(receive(&ours).unwrap().0.is_empty());
    }
}
