//! The system calls that a confined program is refused, with the reason for each group.
//!
//! The list names refused calls among those that were reviewed, because any browser and third-party
//! server must run; newer calls are not in the list and fail as unimplemented. Calls of a browser's
//! own sandbox (`clone`, `unshare`, `chroot`, `capset`, `seccomp`, `prctl`) are allowed:
//! capabilities in a nested user namespace do not apply outside it.

use libc::c_long;

/// The newest call that was reviewed: `mseal`, Linux 6.10.
pub(super) const NEWEST_REVIEWED: u32 = 462;

/// Refused calls, and the error that they return.
pub(super) struct Refused {
    pub error: i32,
    pub calls: &'static [c_long],
}

pub(super) const REFUSED: &[Refused] = &[
    Refused {
        // No access to other processes: reading, writing or controlling them.
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
        // A lab's cores are assigned to it; on others it would disturb other labs and the lab's own
        // path.
        error: libc::EPERM,
        calls: &[libc::SYS_sched_setaffinity],
    },
    Refused {
        // Namespaces may be created but not joined.
        error: libc::EPERM,
        calls: &[libc::SYS_setns],
    },
    Refused {
        // Kernel subsystems with many recent vulnerabilities that neither browsers nor servers
        // need.
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
        // Also vulnerable, and its operations bypass this filter. Event loops fall back to epoll.
        error: libc::ENOSYS,
        calls: &[
            libc::SYS_io_uring_setup,
            libc::SYS_io_uring_enter,
            libc::SYS_io_uring_register,
        ],
    },
    Refused {
        // No control over the machine: modules, clocks, names, power, accounting, log.
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
        // Ports, segments and obsolete calls.
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

/// The allowed socket families. Of the others, vsock leaves every network namespace, and the rest
/// are rarely used parts of the kernel.
pub(super) const FAMILIES: &[i32] = &[
    libc::AF_UNIX,
    libc::AF_INET,
    libc::AF_INET6,
    libc::AF_NETLINK,
];

/// Terminal requests that inject input for the terminal's user.
pub(super) const TERMINAL_REQUESTS: &[libc::c_ulong] = &[libc::TIOCSTI, libc::TIOCLINUX];
