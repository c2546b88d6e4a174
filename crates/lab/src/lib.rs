//! `eyelevel-lab`: the data plane as one binary, controlled by JSON lines (`spec/lab-events.md`).

mod built;
mod commands;
mod config;
mod connection_logs;
mod control;
mod cross_traffic;
mod debug_log;
mod emit;
mod error;
mod files;
mod logs;
mod network;
mod reserved_core;
mod servers;
mod shell;
mod suspension;
mod threads;
mod up;
mod uplink;
mod upstream_ca;

use clap::{Parser, Subcommand};
use commands::{
    archive, bulk, confine, credentials, doctor, live, path_check, probe, record, scan, simulate,
    stages, tables, traffic,
};
use error::Error;
use eyelevel_netns::{RealtimePriority, Side, pin_to_cores, request_realtime};

/// The exit status if a lab could not be entered, as `env` has it.
const EXIT_NOT_ENTERED: i32 = 125;

/// The exit status if a command failed, with the reason on standard error.
const EXIT_FAILED: i32 = 1;

#[derive(Parser)]
#[command(
    version = built::version(),
    about = "Builds eyelevel's labs; started by the command eyelevel"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build one lab from the configuration on standard input
    Up,
    /// Fetch one body from a lab's servers and measure it
    Bulk(bulk::BulkArguments),
    /// Run a command inside a running lab
    Enter {
        /// The lab's process 1, from its `ready` event
        #[arg(long)]
        pid: u32,
        /// Join the server's network namespace: the thread id from the `ready` event
        #[arg(long)]
        server_tid: Option<u32>,
        /// Request the real-time priority of the lab's own servers
        #[arg(long)]
        realtime: bool,
        /// The cores that the command may use, such as `0,2`; by default the caller's
        #[arg(long, value_delimiter = ',', num_args = 1)]
        cores: Vec<usize>,
        /// The command and its arguments
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
    /// Run a command that may be hostile as an unprivileged user, with read-only access to the
    /// system
    Confine(confine::ConfineArguments),
    /// Run a command behind an emulated path, or $SHELL; its exit status is passed on
    Shell(shell::ShellArguments),
    /// Pack, describe, verify and check recorded sites
    Archive(archive::ArchiveArguments),
    /// Record the exchanges through a proxy on loopback as a site
    Record(record::RecordArguments),
    /// A network for browsers that reaches only public servers, until standard input ends
    Live(live::LiveArguments),
    /// Read and check stages; prints them as JSON
    Stages(stages::StagesArguments),
    /// Feed a path log's arrivals to the pure model and compare; exits 2 on a difference
    PathCheck {
        /// `down.log` or `up.log`
        file: std::path::PathBuf,
    },
    /// Send or receive UDP packets at a constant rate, for the path's validation
    Traffic(traffic::TrafficArguments),
    /// Time connections: one line of JSON on standard input, one row per attempt
    Probe,
    /// Scan which hosts support what: one line of JSON, then names on standard input; one row per
    /// name
    Scan,
    /// Serve targets for probes in a lab, until standard input ends
    ProbeTarget,
    /// Simulate bulk transfers in virtual time: lists of them on standard input, one line of JSON
    /// each
    Simulate,
    /// Print the limits of settings and the table of stages, as JSON
    Tables,
    /// Create a key and a self-signed certificate, and print both as one line of JSON
    Credentials,
    /// Print what this machine supports, as one line of JSON
    Doctor,
}

/// Runs the command that the program's arguments name, and exits.
pub fn main() {
    // Callers that forward signals have them blocked.
    if let Err(error) = eyelevel_netns::unblock_signals() {
        eprintln!("eyelevel-lab: {error}");
        std::process::exit(EXIT_FAILED);
    }
    let status = match Arguments::parse().command {
        Command::Up => up::run(),
        Command::Bulk(arguments) => report(bulk::run(&arguments)),
        Command::Enter {
            pid,
            server_tid,
            realtime,
            cores,
            command,
        } => {
            if !cores.is_empty()
                && let Err(error) = pin_to_cores(&cores)
            {
                eprintln!("eyelevel-lab: enter with --cores {cores:?}: {error}");
                std::process::exit(EXIT_NOT_ENTERED);
            }
            // Before joining, because a user namespace may not allow it.
            let _ = realtime && request_realtime(RealtimePriority::Endpoint);
            let side = server_tid.map_or(Side::Client, |thread| Side::Server { thread });
            eyelevel_netns::enter(pid, side, &command).unwrap_or_else(|error| {
                eprintln!("eyelevel-lab: {error}");
                EXIT_NOT_ENTERED
            })
        }
        Command::Confine(arguments) => confine::run(arguments).unwrap_or_else(|error| {
            eprintln!("eyelevel-lab: {error}");
            EXIT_NOT_ENTERED
        }),
        Command::Shell(arguments) => shell::run(&arguments).unwrap_or_else(|error| {
            shell::print_error(&error.to_string());
            EXIT_FAILED
        }),
        Command::Archive(arguments) => report(archive::run(arguments)),
        Command::Record(arguments) => report(record::run(arguments)),
        Command::Live(arguments) => report(live::run(&arguments)),
        Command::Stages(arguments) => report(stages::run(&arguments)),
        Command::PathCheck { file } => report(path_check::run(&file)),
        Command::Traffic(arguments) => report(traffic::run(arguments)),
        Command::Probe => report(probe::probe()),
        Command::Simulate => report(simulate::run()),
        Command::Scan => report(scan::run()),
        Command::ProbeTarget => report(probe::serve_target()),
        Command::Tables => {
            tables::print();
            0
        }
        Command::Credentials => report(credentials::run()),
        Command::Doctor => {
            emit::emit(&doctor::examine());
            0
        }
    };
    std::process::exit(status);
}

/// Checks whether a line is a valid configuration, for `make fuzz`.
///
/// # Errors
///
/// Returns the message that the lab would report.
pub fn check_configuration(line: &[u8]) -> Result<(), String> {
    let read = config::LabConfig::read(&mut &line[..]);
    read.map(drop).map_err(|error| error.to_string())
}

fn report(result: Result<i32, Error>) -> i32 {
    result.unwrap_or_else(|error| {
        eprintln!("eyelevel-lab: {error}");
        EXIT_FAILED
    })
}
