//! The system calls that a confined program is refused, with the reason of each group.
//!
//! It is a list of what is refused among the calls that were judged, since any browser and anybody's
//! server must run; calls newer than those are unknown to this list, so they do not exist. What a
//! browser's own sandbox calls (`clone`, `unshare`, `chroot`, `capset`, `seccomp`, `prctl`) is let
//! through: rights gained in a further user namespace are none over anything outside of it.

use libc::c_long;

/// `mseal`, Linux 6.10: the newest call that was judged.
pub(super) const NEWEST_JUDGED: u32 = 462;

/// Calls that are refused, and the error that says so.
pub(super) struct Refused {
    pub error: i32,
    pub calls: &'static [c_long],
}

pub(super) const REFUSED: &[Refused] = &[
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
        // A lab's cores are given to it; on others it would disturb other labs and the lab's own path.
        error: libc::EPERM,
        calls: &[libc::SYS_sched_setaffinity],
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
pub(super) const FAMILIES: &[i32] = &[
    libc::AF_UNIX,
    libc::AF_INET,
    libc::AF_INET6,
    libc::AF_NETLINK,
];

/// Requests to a terminal that type for its user.
pub(super) const TERMINAL_REQUESTS: &[libc::c_ulong] = &[libc::TIOCSTI, libc::TIOCLINUX];
