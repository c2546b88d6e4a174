//! A ring buffer into which the kernel writes the head of each packet that a namespace sends to a
//! device, with a timestamp (`PACKET_RX_RING`, packet(7)). Reading it needs no system call.

use crate::Error;
use crate::device::packet_socket;
use crate::socket_option::set_option;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// The captured head: IPv6 and TCP with its options, or IPv6, UDP and 32 bytes of a QUIC packet.
/// What follows a connection id is encrypted, so heads of QUIC packets differ.
pub(crate) const HEAD_BYTES: usize = 80;

/// The packets that the kernel queues before the emulator reads them. Only a burst within one
/// wake-up has to fit, because the emulated queue is elsewhere.
pub(crate) const TRANSMIT_QUEUE_PACKETS: libc::c_int = 20_000;
/// The size of a frame: the kernel's own header and an address precede the bytes of a packet
/// (`TPACKET2_HDRLEN`).
const FRAME_BYTES: usize = 160;
const BLOCK_BYTES: usize = 1 << 16;
const FRAMES_A_BLOCK: usize = BLOCK_BYTES / FRAME_BYTES;
/// The number of blocks, with a frame for each packet that the device's own queue can hold, and
/// some more.
const BLOCKS: usize = TRANSMIT_QUEUE_PACKETS as usize / FRAMES_A_BLOCK + 2;
pub(crate) const FRAMES: usize = BLOCKS * FRAMES_A_BLOCK;

/// The head of a packet, and its arrival time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketHead<'a> {
    /// The arrival in Unix time.
    pub wall_ns: u64,
    /// The length of the whole packet, bytes.
    pub length: usize,
    /// The packet's first bytes.
    pub head: &'a [u8],
}

/// The heads of a device's packets, in the order of their arrival.
pub(crate) struct PacketRing {
    socket: OwnedFd,
    memory: NonNull<u8>,
    next: usize,
}

// SAFETY: only this ring and the kernel access the memory, and nothing in it is bound to a thread.
unsafe impl Send for PacketRing {}

impl PacketRing {
    /// Opens a ring for the packets that leave the calling thread's network namespace through the
    /// device `index`.
    pub(crate) fn open(index: u32) -> Result<Self, Error> {
        let socket = packet_socket::open()?;
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        set_option(&socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
        let ring = libc::tpacket_req {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: BLOCKS as u32,
            tp_frame_size: FRAME_BYTES as u32,
            tp_frame_nr: FRAMES as u32,
        };
        set_option(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &ring)?;
        let mut program = outgoing_heads();
        let filter = libc::sock_fprog {
            len: program.len() as u16,
            filter: program.as_mut_ptr(),
        };
        set_option(&socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter)?;
        // SAFETY: a new mapping of the ring's own size; the result is checked.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                BLOCKS * BLOCK_BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(Error::last("share memory with a packet socket"));
        }
        let ring = Self {
            memory: NonNull::new(memory.cast()).expect("a mapping is not at 0"),
            next: 0,
            socket,
        };
        packet_socket::listen(&ring.socket, index)?;
        Ok(ring)
    }

    /// Returns the record `ahead` positions after the next, if it has arrived.
    #[inline]
    pub(crate) fn peek(&self, ahead: usize) -> Option<PacketHead<'_>> {
        if ahead >= FRAMES {
            return None;
        }
        let frame = self.frame(self.next + ahead);
        // SAFETY: every frame begins with a `tpacket2_hdr`, whose first member is the status. While
        // the status is the user's, the kernel does not write to the frame.
        unsafe {
            let status = AtomicU32::from_ptr(frame.as_ptr().cast());
            if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
                return None;
            }
            let header: libc::tpacket2_hdr = frame.as_ptr().cast::<libc::tpacket2_hdr>().read();
            let start = usize::from(header.tp_net).min(FRAME_BYTES);
            let kept = (header.tp_snaplen as usize).min(FRAME_BYTES - start);
            Some(PacketHead {
                wall_ns: u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec),
                length: header.tp_len as usize,
                head: std::slice::from_raw_parts(frame.as_ptr().add(start), kept),
            })
        }
    }

    /// Returns the next record's frame to the kernel. The record must have arrived.
    #[inline]
    pub(crate) fn take(&mut self) {
        let frame = self.frame(self.next);
        // SAFETY: as in `peek`; nothing borrowed from the frame is alive, since `self` is borrowed
        // exclusively.
        let status = unsafe { AtomicU32::from_ptr(frame.as_ptr().cast()) };
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % FRAMES;
    }

    #[inline]
    fn frame(&self, number: usize) -> NonNull<u8> {
        let number = number % FRAMES;
        let at = number / FRAMES_A_BLOCK * BLOCK_BYTES + number % FRAMES_A_BLOCK * FRAME_BYTES;
        // SAFETY: within the mapping, whatever the number.
        unsafe { self.memory.add(at) }
    }
}

impl Drop for PacketRing {
    fn drop(&mut self) {
        // SAFETY: mapped in `open` with this length, and unmapped once.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), BLOCKS * BLOCK_BYTES) };
    }
}

/// Returns a filter that keeps the head of each outgoing packet, and nothing of incoming ones.
fn outgoing_heads() -> [libc::sock_filter; 4] {
    let code = |code: u32, jt, jf, k| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let (ld, jeq, ret) = (
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
        libc::BPF_RET | libc::BPF_K,
    );
    [
        code(ld, 0, 0, (libc::SKF_AD_OFF + libc::SKF_AD_PKTTYPE) as u32),
        code(jeq, 0, 1, libc::PACKET_OUTGOING.into()),
        code(ret, 0, 0, HEAD_BYTES as u32),
        code(ret, 0, 0, 0),
    ]
}
