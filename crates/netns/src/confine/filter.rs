//! The system calls that a confined program is refused, with the reason of each group.
//!
//! It is a list of what is refused among the calls that were judged, since any browser and anybody's
//! server must run; calls newer than those are unknown to this list, so they do not exist. What a
//! browser's own sandbox calls (`clone`, `unshare`, `chroot`, `capset`, `seccomp`, `prctl`) is let
//! through: rights gained in a further user namespace are none over anything outside of it.

use crate::Error;
use crate::error::check;
use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, c_long,
    sock_filter, sock_fprog,
};

/// `mseal`, Linux 6.10: the newest call that was judged.
const NEWEST_JUDGED: u32 = 462;

/// Calls of the x32 ABI have this bit; they are the same calls by other numbers.
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

/// Calls that are refused, and the error that says so.
struct Refused {
    error: i32,
    calls: &'static [c_long],
}

const REFUSED: &[Refused] = &[
    Refused {
        // Other processes are nobody's to read, write or steer.
        error: libc::EPERM,
        calls: &[
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_process_vm_writev,
            libc::SYS_pidfd_getfd,
            libc::SYS_process_madvise,
            libc::SYS_kcmp,
        ],
    },
    Refused {
        // The view of the file system stays as it was built.
        error: libc::EPERM,
        calls: &[
            libc::SYS_mount,
            libc::SYS_umount2,
            libc::SYS_pivot_root,
            libc::SYS_open_tree,
            libc::SYS_move_mount,
            libc::SYS_fsopen,
            libc::SYS_fsconfig,
            libc::SYS_fsmount,
            libc::SYS_fspick,
            libc::SYS_mount_setattr,
            libc::SYS_quotactl,
            libc::SYS_quotactl_fd,
            libc::SYS_swapon,
            libc::SYS_swapoff,
            libc::SYS_name_to_handle_at,
            libc::SYS_open_by_handle_at,
            libc::SYS_fanotify_init,
            libc::SYS_fanotify_mark,
        ],
    },
    Refused {
        // A namespace may be made, another's never joined.
        error: libc::EPERM,
        calls: &[libc::SYS_setns],
    },
    Refused {
        // Parts of the kernel with many holes of late that neither browsers nor servers need.
        error: libc::EPERM,
        calls: &[
            libc::SYS_bpf,
            libc::SYS_perf_event_open,
            libc::SYS_userfaultfd,
            libc::SYS_add_key,
            libc::SYS_request_key,
            libc::SYS_keyctl,
        ],
    },
    Refused {
        // The same, and its calls pass by this very filter. Event loops fall back to epoll.
        error: libc::ENOSYS,
        calls: &[
            libc::SYS_io_uring_setup,
            libc::SYS_io_uring_enter,
            libc::SYS_io_uring_register,
        ],
    },
    Refused {
        // The machine is not the program's: modules, clocks, names, power, accounting, log.
        error: libc::EPERM,
        calls: &[
            libc::SYS_init_module,
            libc::SYS_finit_module,
            libc::SYS_delete_module,
            libc::SYS_kexec_load,
            libc::SYS_kexec_file_load,
            libc::SYS_reboot,
            libc::SYS_acct,
            libc::SYS_syslog,
            libc::SYS_settimeofday,
            libc::SYS_clock_settime,
            libc::SYS_clock_adjtime,
            libc::SYS_adjtimex,
            libc::SYS_sethostname,
            libc::SYS_setdomainname,
            libc::SYS_vhangup,
            libc::SYS_personality,
        ],
    },
    #[cfg(target_arch = "x86_64")]
    Refused {
        // Ports, segments and calls of other days.
        error: libc::EPERM,
        calls: &[
            libc::SYS_ioperm,
            libc::SYS_iopl,
            libc::SYS_modify_ldt,
            libc::SYS_uselib,
            libc::SYS_ustat,
            libc::SYS_sysfs,
            libc::SYS__sysctl,
            libc::SYS_nfsservctl,
        ],
    },
];

/// Families of sockets; of the others one (vsock) leaves every network namespace, the rest are
/// seldom used parts of the kernel.
const FAMILIES: &[i32] = &[
    libc::AF_UNIX,
    libc::AF_INET,
    libc::AF_INET6,
    libc::AF_NETLINK,
];

/// Requests to a terminal that type for its user.
const TERMINAL_REQUESTS: &[libc::c_ulong] = &[libc::TIOCSTI, libc::TIOCLINUX];

const LOAD: u32 = BPF_LD | BPF_W | BPF_ABS;

/// Puts the calling process and all that it starts under the filter, for good.
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
        jump(BPF_JGE, NEWEST_JUDGED + 1, 0, 1),
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
        code.extend(only_if_argument(
            call,
            0,
            families.collect(),
            libc::EAFNOSUPPORT,
        ));
    }
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

/// Refuses `call` unless the lower half of an argument is one of `values`. The number is loaded
/// before it and, where the call is another, after it.
fn only_if_argument(call: c_long, index: u32, values: Vec<u32>, error: i32) -> Vec<sock_filter> {
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

    /// What the kernel would do with a call: the filter's instructions, one by one.
    fn judged(architecture: u32, number: u32, arguments: [u32; 2]) -> u32 {
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
    fn each_call_is_let_through_or_refused_as_the_list_says() {
        for number in 0..=NEWEST_JUDGED {
            let listed = REFUSED
                .iter()
                .find(|group| group.calls.contains(&c_long::from(number)));
            let wanted = listed.map_or(libc::SECCOMP_RET_ALLOW, |group| errno(group.error));
            // An Internet socket, and no request to a terminal.
            let arguments = [libc::AF_INET as u32, 0];
            assert_eq!(judged(ARCHITECTURE, number, arguments), wanted, "{number}");
        }
    }

    #[test]
    fn what_is_newer_or_of_another_abi_does_not_exist() {
        for number in [NEWEST_JUDGED + 1, 600, X32_BIT, X32_BIT + 101, u32::MAX] {
            assert_eq!(judged(ARCHITECTURE, number, [0; 2]), errno(libc::ENOSYS));
        }
        let i386 = 0x4000_0003;
        assert_eq!(judged(i386, 11, [0; 2]), libc::SECCOMP_RET_KILL_PROCESS);
    }

    #[test]
    fn sockets_have_four_families_and_terminals_type_for_nobody() {
        for call in [libc::SYS_socket, libc::SYS_socketpair] {
            for family in 0..64 {
                let wanted = if FAMILIES.contains(&family) {
                    libc::SECCOMP_RET_ALLOW
                } else {
                    errno(libc::EAFNOSUPPORT)
                };
                assert_eq!(
                    judged(ARCHITECTURE, call as u32, [family as u32, 0]),
                    wanted
                );
            }
        }
        for request in [libc::TIOCSTI, libc::TIOCLINUX] {
            let found = judged(ARCHITECTURE, libc::SYS_ioctl as u32, [0, request as u32]);
            assert_eq!(found, errno(libc::EPERM));
        }
        let size = judged(
            ARCHITECTURE,
            libc::SYS_ioctl as u32,
            [0, libc::TIOCGWINSZ as u32],
        );
        assert_eq!(size, libc::SECCOMP_RET_ALLOW);
    }
}
