//! The seccomp filter of a confined program, built from the table of refused system calls.

use super::refused::{FAMILIES, NEWEST_REVIEWED, REFUSED, TERMINAL_REQUESTS};
use crate::Error;
use crate::error::check;
use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, c_long,
    sock_filter, sock_fprog,
};

/// The bit that marks calls of the x32 ABI, which are the same calls with other numbers.
const X32_BIT: u32 = 0x4000_0000;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// Offsets in `struct seccomp_data`.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const fn argument_at(index: u32) -> u32 {
    16 + 8 * index
}

const LOAD: u32 = BPF_LD | BPF_W | BPF_ABS;

/// Installs the filter for the calling process and all its descendants, irrevocably.
pub(super) fn install() -> Result<(), Error> {
    let mut instructions = program();
    let program = sock_fprog {
        len: instructions.len() as u16,
        filter: instructions.as_mut_ptr(),
    };
    // SAFETY: `program` and its instructions outlive the call, which copies them.
    let result = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            0,
            &raw const program,
        )
    };
    check(result as i32, || {
        "filter a confined program's system calls".into()
    })
    .map(drop)
}

fn program() -> Vec<sock_filter> {
    let mut code = vec![
        statement(LOAD, ARCHITECTURE_AT),
        jump(BPF_JEQ, ARCHITECTURE, 1, 0),
        statement(BPF_RET | BPF_K, libc::SECCOMP_RET_KILL_PROCESS),
        statement(LOAD, NUMBER_AT),
        jump(BPF_JSET, X32_BIT, 1, 0),
        jump(BPF_JGE, NEWEST_REVIEWED + 1, 0, 1),
        refuse(libc::ENOSYS),
    ];
    for group in REFUSED {
        for &call in group.calls {
            code.push(jump(BPF_JEQ, call as u32, 0, 1));
            code.push(refuse(group.error));
        }
    }
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        let families = FAMILIES.iter().map(|&family| family as u32);
        code.extend(refuse_unless_argument(
            call,
            0,
            families.collect(),
            libc::EAFNOSUPPORT,
        ));
    }
    // Without `fq` the kernel accepts the option and sends at once, so that a server that paces by
    // time stamps would be unpaced without an error. SO_MAX_PACING_RATE stays: TCP paces by it on
    // any device, and a filter does not see whether a socket is UDP's.
    code.extend([
        jump(BPF_JEQ, libc::SYS_setsockopt as u32, 0, 6),
        statement(LOAD, argument_at(1)),
        jump(BPF_JEQ, libc::SOL_SOCKET as u32, 0, 3),
        statement(LOAD, argument_at(2)),
        jump(BPF_JEQ, libc::SO_TXTIME as u32, 0, 1),
        refuse(libc::ENOPROTOOPT),
        statement(BPF_RET | BPF_K, libc::SECCOMP_RET_ALLOW),
    ]);
    code.push(jump(
        BPF_JEQ,
        libc::SYS_ioctl as u32,
        0,
        1 + 2 * TERMINAL_REQUESTS.len() as u8,
    ));
    code.push(statement(LOAD, argument_at(1)));
    for &request in TERMINAL_REQUESTS {
        code.push(jump(BPF_JEQ, request as u32, 0, 1));
        code.push(refuse(libc::EPERM));
    }
    code.push(statement(BPF_RET | BPF_K, libc::SECCOMP_RET_ALLOW));
    code
}

/// Refuses `call` unless the lower half of an argument is one of `values`. The call's number is
/// loaded before these instructions and, if the call is another, after them.
fn refuse_unless_argument(
    call: c_long,
    index: u32,
    values: Vec<u32>,
    error: i32,
) -> Vec<sock_filter> {
    let count = values.len() as u8;
    let mut code = vec![
        jump(BPF_JEQ, call as u32, 0, count + 3),
        statement(LOAD, argument_at(index)),
    ];
    for (place, value) in (0..).zip(values) {
        code.push(jump(BPF_JEQ, value, count - place, 0));
    }
    code.push(refuse(error));
    code.push(statement(BPF_RET | BPF_K, libc::SECCOMP_RET_ALLOW));
    code
}

fn refuse(error: i32) -> sock_filter {
    statement(BPF_RET | BPF_K, libc::SECCOMP_RET_ERRNO | error as u32)
}

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    }
}

fn jump(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter {
        code: (BPF_JMP | code | BPF_K) as u16,
        jt,
        jf,
        k,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Executes the filter's instructions on a call, as the kernel does.
    fn execute(architecture: u32, number: u32, arguments: [u32; 3]) -> u32 {
        let code = program();
        let (mut at, mut value) = (0, 0);
        loop {
            let it = code[at];
            at += 1;
            let operation = u32::from(it.code);
            let holds = match operation {
                LOAD => {
                    value = match it.k {
                        NUMBER_AT => number,
                        ARCHITECTURE_AT => architecture,
                        k if k == argument_at(0) => arguments[0],
                        k if k == argument_at(1) => arguments[1],
                        k if k == argument_at(2) => arguments[2],
                        k => panic!("loads from {k}"),
                    };
                    continue;
                }
                _ if operation == BPF_RET | BPF_K => return it.k,
                _ if operation == BPF_JMP | BPF_JEQ | BPF_K => value == it.k,
                _ if operation == BPF_JMP | BPF_JGE | BPF_K => value >= it.k,
                _ if operation == BPF_JMP | BPF_JSET | BPF_K => value & it.k != 0,
                _ => panic!("an instruction {operation}"),
            };
            at += usize::from(if holds { it.jt } else { it.jf });
        }
    }

    fn errno(error: i32) -> u32 {
        libc::SECCOMP_RET_ERRNO | error as u32
    }

    #[test]
    fn each_call_is_allowed_or_refused_as_listed() {
        for number in 0..=NEWEST_REVIEWED {
            let listed = REFUSED
                .iter()
                .find(|group| group.calls.contains(&c_long::from(number)));
            let wanted = listed.map_or(libc::SECCOMP_RET_ALLOW, |group| errno(group.error));
            // An Internet socket, and a harmless terminal request.
            let arguments = [libc::AF_INET as u32, 0, 0];
            assert_eq!(execute(ARCHITECTURE, number, arguments), wanted, "{number}");
        }
    }

    #[test]
    fn newer_calls_and_other_abis_are_unimplemented() {
        for number in [NEWEST_REVIEWED + 1, 600, X32_BIT, X32_BIT + 101, u32::MAX] {
            assert_eq!(execute(ARCHITECTURE, number, [0; 3]), errno(libc::ENOSYS));
        }
        let i386 = 0x4000_0003;
        assert_eq!(execute(i386, 11, [0; 3]), libc::SECCOMP_RET_KILL_PROCESS);
    }

    #[test]
    fn socket_families_and_terminal_requests_are_limited() {
        for call in [libc::SYS_socket, libc::SYS_socketpair] {
            for family in 0..64 {
                let wanted = if FAMILIES.contains(&family) {
                    libc::SECCOMP_RET_ALLOW
                } else {
                    errno(libc::EAFNOSUPPORT)
                };
                assert_eq!(
                    execute(ARCHITECTURE, call as u32, [family as u32, 0, 0]),
                    wanted
                );
            }
        }
        for request in [libc::TIOCSTI, libc::TIOCLINUX] {
            let found = execute(ARCHITECTURE, libc::SYS_ioctl as u32, [0, request as u32, 0]);
            assert_eq!(found, errno(libc::EPERM));
        }
        let size = execute(
            ARCHITECTURE,
            libc::SYS_ioctl as u32,
            [0, libc::TIOCGWINSZ as u32, 0],
        );
        assert_eq!(size, libc::SECCOMP_RET_ALLOW);
    }

    #[test]
    fn times_of_sending_are_refused_and_other_options_are_not() {
        let option = |level: i32, name: i32| {
            let arguments = [0, level as u32, name as u32];
            execute(ARCHITECTURE, libc::SYS_setsockopt as u32, arguments)
        };
        let wanted = errno(libc::ENOPROTOOPT);
        assert_eq!(option(libc::SOL_SOCKET, libc::SO_TXTIME), wanted);
        for (level, name) in [
            (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE),
            (libc::SOL_SOCKET, libc::SO_RCVBUF),
            (libc::IPPROTO_TCP, libc::SO_TXTIME),
        ] {
            assert_eq!(option(level, name), libc::SECCOMP_RET_ALLOW);
        }
    }
}
