use crate::Error;
use crate::relay;
use crate::sandbox;
use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// The remedy for a command that is not found, which `eyelevel doctor` cannot help with.
const NOT_FOUND: &str = "check its name; it is looked for on your PATH";

/// The side of a lab that a command joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The client's side, where the browser runs.
    Client,
    /// The servers' side, in the network namespace of their thread.
    Server {
        /// The thread id inside the lab, from the lab's `ready` event.
        thread: u32,
    },
}

/// Joins the namespaces of the lab whose process 1 is `init_pid` and becomes `command` inside,
/// which ends when the caller's parent or the lab ends. Returns only the exit status of the
/// command, passed on from the child that the process namespace requires.
///
/// # Errors
///
/// Fails if the lab is gone or belongs to another user, or the command cannot be started.
pub fn enter(init_pid: u32, side: Side, command: &[String]) -> Result<i32, Error> {
    let process = PathBuf::from(format!("/proc/{init_pid}"));
    let network = match side {
        Side::Client => process.join("ns/net"),
        Side::Server { thread } => outer_thread(&process, thread)?.join("ns/net"),
    };
    let own_user = std::fs::read_link("/proc/self/ns/user").ok();
    let lab_user = std::fs::read_link(process.join("ns/user")).ok();
    let mut spaces = Vec::new();
    if own_user != lab_user {
        spaces.push((process.join("ns/user"), LinkNameSpaceType::User));
    }
    spaces.push((network, LinkNameSpaceType::Network));
    spaces.push((
        process.join("ns/uts"),
        LinkNameSpaceType::HostNameAndNISDomainName,
    ));
    spaces.push((process.join("ns/pid"), LinkNameSpaceType::ProcessID));
    spaces.push((process.join("ns/mnt"), LinkNameSpaceType::Mount));
    // All are opened before the first is joined: afterwards /proc is the lab's own.
    let opened = spaces
        .into_iter()
        .map(|(path, kind)| {
            let file = File::open(&path)
                .map_err(|e| Error::new(format!("open {} of the lab", path.display()), e))?;
            Ok((file, path, kind))
        })
        .collect::<Result<Vec<_>, Error>>()?;
    let directory = std::env::current_dir().ok();
    for (file, path, kind) in &opened {
        move_into_link_name_space(file.as_fd(), Some(*kind))
            .map_err(|e| Error::new(format!("join {}", path.display()), e))?;
    }
    drop(opened);
    // Joining a mount namespace moves the working directory to its root.
    if let Some(directory) = directory {
        let _ = std::env::set_current_dir(directory);
    }
    run_inside(command)
}

fn run_inside(command: &[String]) -> Result<i32, Error> {
    sandbox::die_with_parent()?;
    let mut child = Command::new(&command[0]);
    child.args(&command[1..]);
    // SAFETY: prctl is async-signal-safe, the closure allocates nothing.
    unsafe {
        child.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
    // The command handles signals while this process waits. A handler would not survive exec.
    let attempt = || format!("run {} inside the lab", command[0]);
    let child =
        relay::start_relayed(&mut child, attempt).map_err(|error| match error.source.kind() {
            std::io::ErrorKind::NotFound => error.remedy(NOT_FOUND),
            _ => error,
        })?;
    sandbox::wait_for(child.id() as i32)
}

/// Finds the thread whose id inside the lab is `inner` among those of the lab's process 1.
fn outer_thread(process: &std::path::Path, inner: u32) -> Result<PathBuf, Error> {
    let tasks = process.join("task");
    let listing = std::fs::read_dir(&tasks)
        .map_err(|e| Error::new(format!("list {}", tasks.display()), e))?;
    for task in listing.flatten() {
        let status = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let last_id = status
            .lines()
            .find_map(|line| line.strip_prefix("NSpid:"))
            .and_then(|ids| ids.split_whitespace().last())
            .and_then(|id| id.parse::<u32>().ok());
        if last_id == Some(inner) {
            return Ok(task.path());
        }
    }
    Err(Error::new(
        format!("find the server thread {inner} of the lab"),
        std::io::ErrorKind::NotFound,
    ))
}
