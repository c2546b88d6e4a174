//! `eyelevel-lab archive`: packs, describes and verifies recorded sites.

use std::path::PathBuf;

use crate::Error;
use crate::site_check::check_site;
use clap::{Args, Subcommand};
use eyelevel_archive::{Site, SiteInfo, pack};
use serde::Serialize;

/// The arguments after `archive`.
#[derive(Debug, Args)]
pub struct ArchiveArguments {
    #[command(subcommand)]
    command: ArchiveCommand,
}

#[derive(Debug, Subcommand)]
enum ArchiveCommand {
    /// Pack a folder's files as a recorded site, after a manifest (spec/archive.md)
    Pack {
        /// The manifest, JSON; its files are relative to its folder
        manifest: PathBuf,
        /// The WACZ to write
        #[arg(long)]
        out: PathBuf,
    },
    /// Say what a recorded site consists of
    Info {
        /// A WARC or WACZ file
        file: PathBuf,
        /// One line of JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Replay every exchange over HTTP/1.1, 2 and 3 and compare; one line of JSON, exits 2 on a
    /// difference
    Check {
        /// A WARC or WACZ file
        file: PathBuf,
    },
    /// Compare every digest in a recorded site with what it speaks of
    Verify {
        /// A WARC or WACZ file
        file: PathBuf,
        /// One line of JSON instead of a sentence
        #[arg(long)]
        json: bool,
    },
}

/// A check ran and found a difference; 1 is for a check that could not run.
const EXIT_DIFFERS: i32 = 2;

/// Runs the command; its result goes to standard output. Returns the exit status.
pub fn run(arguments: ArchiveArguments) -> Result<i32, Error> {
    match arguments.command {
        ArchiveCommand::Pack { manifest, out } => {
            pack(&manifest, &out)?;
            print_json(&Site::open(&out)?.info());
        }
        ArchiveCommand::Info { file, json } => {
            let info = Site::open(file)?.info();
            if json {
                print_json(&info)
            } else {
                print_info(&info)
            }
        }
        ArchiveCommand::Check { file } => {
            let found = check_site(&file)?;
            print_json(&found);
            if !found.is_faithful() {
                return Ok(EXIT_DIFFERS);
            }
        }
        ArchiveCommand::Verify { file, json } => {
            let verification = Site::open(&file)?.verify()?;
            if json {
                print_json(&verification);
            } else {
                println!(
                    "{} is sound: {} records, {} record digests and {} file digests agree",
                    file.display(),
                    verification.records,
                    verification.record_digests,
                    verification.resource_digests
                );
            }
        }
    }
    Ok(0)
}

fn print_json(value: &impl Serialize) {
    println!(
        "{}",
        serde_json::to_string(value).expect("numbers and texts are JSON")
    );
}

fn print_info(info: &SiteInfo) {
    println!("site            {}", info.name);
    println!("digest          {}", info.digest);
    println!("page            {}", info.main_url);
    println!("objects         {}", info.objects);
    println!("body bytes      {}", info.body_bytes);
    println!("median object   {} bytes", info.body_bytes_median);
    println!("largest object  {} bytes", info.body_bytes_max);
    println!("secure share    {:.0} %", info.secure_share * 100.0);
    println!(
        "origins         {} on {} addresses",
        info.origins.len(),
        info.server_addresses
    );
    for origin in &info.origins {
        let source = if origin.address_recorded {
            "recorded"
        } else {
            "assigned"
        };
        let (scheme, host, port) = (origin.scheme, &origin.host, origin.port);
        println!(
            "  {scheme}://{host}:{port} at {} ({source})",
            origin.address
        );
    }
    for note in &info.notes {
        println!(
            "note: {} record {}: {}",
            note.file, note.record, note.message
        );
    }
}
