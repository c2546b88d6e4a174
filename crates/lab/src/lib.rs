//! `eyelevel-lab`: the data plane as one binary. It speaks JSON lines (`spec/lab-events.md`).

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
use eyelevel_netns::{RealtimePriority, Side, keep_to_cores, request_realtime};

/// What a shell reports when a command could not be run in its surroundings, as `env` does.
const EXIT_NOT_ENTERED: i32 = 125;

/// A command that could not do its work, with the reason on standard error.
const EXIT_FAILED: i32 = 1;

#[derive(Parser)]
#[command(
    version = built::said(),
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
    /// Get one body from a lab's servers and say how long it took
    Bulk(bulk::BulkArguments),
    /// Run a command inside a running lab
    Enter {
        /// The lab's process 1, from its `ready` event
        #[arg(long)]
        pid: u32,
        /// Join the server's network namespace: the thread id from the `ready` event
        #[arg(long)]
        server_tid: Option<u32>,
        /// Ask for the real-time priority that the lab's own servers have
        #[arg(long)]
        realtime: bool,
        /// The cores that the command may use, such as `0,2`; by default the caller's
        #[arg(long, value_delimiter = ',', num_args = 1)]
        cores: Vec<usize>,
        /// The command and its arguments
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
    /// Run a command that may be hostile: as an unprivileged user, with the system to read alone
    Confine(confine::ConfineArguments),
    /// Run a command behind an emulated path, or $SHELL; its exit status is passed on
    Shell(shell::ShellArguments),
    /// Pack, describe, verify and check recorded sites
    Archive(archive::ArchiveArguments),
    /// Record what passes through a proxy on loopback as a site
    Record(record::RecordArguments),
    /// A network for browsers that reaches public servers alone, until standard input ends
    Live(live::LiveArguments),
    /// Read and check stages; prints them as JSON
    Stages(stages::StagesArguments),
    /// Feed a path log's arrivals to the pure model and compare; exits 2 on a difference
    PathCheck {
        /// `down.log` or `up.log`
        file: std::path::PathBuf,
    },
    /// UDP packets at a constant rate, for the path's validation
    Traffic(traffic::TrafficArguments),
    /// Time connections: one line of JSON on standard input, a row for each attempt
    Probe,
    /// Who supports what: one line of JSON, then names on standard input; a row a name
    Scan,
    /// Servers to probe in a lab, until standard input ends
    ProbeTarget,
    /// Bulk transfers in virtual time: lists of them on standard input, a line of JSON each
    Simulate,
    /// Print the limits of settings and the table of stages, as JSON
    Tables,
    /// Make a key and a certificate that it signs itself, and print both as one line of JSON
    Credentials,
    /// Say what this machine offers a lab, as one line of JSON
    Doctor,
}

/// Runs the command that the program's arguments name, and exits.
pub fn main() {
    // Whoever waits for signals to pass them on has them blocked.
    if let Err(error) = eyelevel_netns::unblock_signals() {
        eprintln!("eyelevel-lab: {error}");
        std::process::exit(EXIT_FAILED);
    }
    let status = match Arguments::parse().command {
        Command::Up => up::run(),
        Command::Bulk(arguments) => reported(bulk::run(&arguments)),
        Command::Enter {
            pid,
            server_tid,
            realtime,
            cores,
            command,
        } => {
            if !cores.is_empty()
                && let Err(error) = keep_to_cores(&cores)
            {
                eprintln!("eyelevel-lab: enter with --cores {cores:?}: {error}");
                std::process::exit(EXIT_NOT_ENTERED);
            }
            // Before it joins: inside a user namespace it may not.
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
            shell::complain(&error.to_string());
            EXIT_FAILED
        }),
        Command::Archive(arguments) => reported(archive::run(arguments)),
        Command::Record(arguments) => reported(record::run(arguments)),
        Command::Live(arguments) => reported(live::run(&arguments)),
        Command::Stages(arguments) => reported(stages::run(&arguments)),
        Command::PathCheck { file } => reported(path_check::run(&file)),
        Command::Traffic(arguments) => reported(traffic::run(arguments)),
        Command::Probe => reported(probe::probe()),
        Command::Simulate => reported(simulate::run()),
        Command::Scan => reported(scan::run()),
        Command::ProbeTarget => reported(probe::serve_target()),
        Command::Tables => {
            tables::print();
            0
        }
        Command::Credentials => reported(credentials::run()),
        Command::Doctor => {
            emit::emit(&doctor::examine());
            0
        }
    };
    std::process::exit(status);
}

/// Whether the first line that a lab reads can be one, for `make fuzz`.
///
/// # Errors
/// What is wrong with it, as the lab says it.
pub fn check_configuration(line: &[u8]) -> Result<(), String> {
    let read = config::LabConfig::read(&mut &line[..]);
    read.map(drop).map_err(|error| error.to_string())
}

fn reported(result: Result<i32, Error>) -> i32 {
    result.unwrap_or_else(|error| {
        eprintln!("eyelevel-lab: {error}");
        EXIT_FAILED
    })
}
