//! `eyelevel-lab archive`: packs, describes and verifies recorded sites.

use std::path::{Path, PathBuf};

use super::site_check::check_site;
use super::site_edit::edit_site;
use crate::Error;
use clap::{Args, Subcommand};
use eyelevel_archive::{
    Imported, Site, SiteInfo, Url, export_answers, export_files, export_har, export_mahimahi,
    import, pack, write_wacz,
};
use eyelevel_edit::find_early_hints;
use serde::Serialize;

/// The arguments after `archive`.
#[derive(Debug, Args)]
pub struct ArchiveArguments {
    #[command(subcommand)]
    command: ArchiveCommand,
}

#[derive(Debug, Subcommand)]
enum ArchiveCommand {
    /// Pack a folder's files into a recorded site, as a manifest describes (spec/archive.md)
    Pack {
        /// The manifest, JSON; its files are relative to its folder
        manifest: PathBuf,
        /// The WACZ to write
        #[arg(long)]
        out: PathBuf,
    },
    /// Import other tools' recordings as a site: HAR with bodies, Mahimahi folders, Web Page Replay
    /// archives, mitmproxy flows, WARC and WACZ files
    Import {
        /// Files or folders; several become one site
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// The WACZ to write
        #[arg(long)]
        out: PathBuf,
        /// The page to load, if not the recording's
        #[arg(long)]
        main_url: Option<Url>,
        /// Move every http origin to https and rewrite the links; the site is marked as altered
        #[arg(long)]
        secure: bool,
        /// The viewport of the recording, CSS pixels, as 1366x768; replays use the same
        #[arg(long, value_parser = parse_viewport)]
        viewport: Option<(u32, u32)>,
    },
    /// Apply edits to a recorded site; prints one line of JSON: how often each matched, and what
    /// changed
    Edit {
        /// A WARC or WACZ file
        file: PathBuf,
        /// A JSON file with a list of edits (spec/archive.md)
        #[arg(long)]
        edits: PathBuf,
        /// The WACZ to write
        #[arg(long)]
        out: PathBuf,
    },
    /// Write a recorded site in another format
    #[command(group = clap::ArgGroup::new("format").required(true))]
    Export {
        /// A WARC or WACZ file
        file: PathBuf,
        /// A HAR file with bodies
        #[arg(long, group = "format")]
        har: Option<PathBuf>,
        /// A folder in Mahimahi's format
        #[arg(long, group = "format")]
        mahimahi: Option<PathBuf>,
        /// A folder of decoded bodies
        #[arg(long, group = "format")]
        files: Option<PathBuf>,
        /// A folder for another server: bodies as sent, and tables of the answers and their fields
        #[arg(long, group = "format")]
        answers: Option<PathBuf>,
    },
    /// Print the objects that a page's Early Hints name, and the render-blocking ones that they do
    /// not, as one line of JSON
    EarlyHints {
        /// A WARC or WACZ file
        file: PathBuf,
    },
    /// Print the numbers of a recorded site
    Info {
        /// A WARC or WACZ file
        file: PathBuf,
        /// One line of JSON instead of a table
        #[arg(long)]
        json: bool,
        /// With --json: also the size of each body as sent, in recorded order
        #[arg(long, requires = "json")]
        sizes: bool,
    },
    /// Write the recorded screenshot of the page to a file
    Screenshot {
        /// A WARC or WACZ file
        file: PathBuf,
        /// The image, in its recorded format
        #[arg(long)]
        out: PathBuf,
    },
    /// Replay every exchange over HTTP/1.1, 2 and 3 and compare; one line of JSON, exits 2 on a
    /// difference
    Check {
        /// A WARC or WACZ file
        file: PathBuf,
    },
    /// Compare every digest in a recorded site with its content
    Verify {
        /// A WARC or WACZ file
        file: PathBuf,
        /// Print one line of JSON instead of a sentence
        #[arg(long)]
        json: bool,
    },
}

/// The numbers of a site with the sizes of its bodies, for quantiles over many sites.
#[derive(Serialize)]
struct InfoWithSizes {
    #[serde(flatten)]
    info: SiteInfo,
    /// The size of each body as sent, in recorded order, bytes.
    body_sizes: Vec<usize>,
}

/// The exit status of a check that found a difference; 1 is for a check that could not run.
const EXIT_DIFFERS: i32 = 2;

/// Runs the command and prints its result. Returns the exit status.
pub fn run(arguments: ArchiveArguments) -> Result<i32, Error> {
    match arguments.command {
        ArchiveCommand::Pack { manifest, out } => {
            pack(&manifest, &out)?;
            print_json(&Site::open(&out)?.info());
        }
        ArchiveCommand::Import {
            paths,
            out,
            main_url,
            secure,
            viewport,
        } => {
            let mut imported = import(&paths)?;
            let is_named = main_url.is_some();
            if is_named {
                imported.main_url = main_url; // it moves to https with the others
            }
            if secure {
                eyelevel_archive::secure(&mut imported);
            }
            if viewport.is_some() {
                imported.provenance.viewport_px = viewport;
            }
            let named = imported.main_url.clone().filter(|_| is_named);
            write_imported(&imported, &paths[0], &out, named)?
        }
        ArchiveCommand::Edit { file, edits, out } => print_json(&edit_site(&file, &edits, &out)?),
        ArchiveCommand::EarlyHints { file } => {
            let site = Site::open(&file)?;
            print_json(&find_early_hints(site.exchanges(), site.main_url())?);
        }
        ArchiveCommand::Export {
            file,
            har,
            mahimahi,
            files,
            answers,
        } => {
            let site = Site::open(&file)?;
            if let Some(out) = har {
                export_har(&site, &out)?;
            } else if let Some(out) = mahimahi {
                export_mahimahi(&site, &out)?;
            } else if let Some(out) = files {
                export_files(&site, &out)?;
            } else if let Some(out) = answers {
                export_answers(&site, &out)?;
            }
            print_json(&site.info());
        }
        ArchiveCommand::Info { file, json, sizes } => {
            let site = Site::open(file)?;
            let info = site.info();
            match (json, sizes) {
                (false, _) => print_info(&info),
                (true, false) => print_json(&info),
                (true, true) => print_json(&InfoWithSizes {
                    info,
                    body_sizes: site.exchanges().iter().map(|e| e.body.len()).collect(),
                }),
            }
        }
        ArchiveCommand::Screenshot { file, out } => {
            let site = Site::open(&file)?;
            let found = site.screenshot();
            if let Some(screenshot) = found {
                std::fs::write(&out, &screenshot.image).map_err(|source| {
                    eyelevel_archive::Error::Io {
                        attempt: "write",
                        path: out,
                        source,
                    }
                })?;
            }
            print_json(&found.map(|screenshot| &screenshot.media_type));
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

fn write_imported(
    imported: &Imported,
    from: &Path,
    out: &Path,
    main_url: Option<Url>,
) -> Result<(), Error> {
    let title = out.file_stem().unwrap_or_default().to_string_lossy();
    let metadata =
        imported
            .metadata(main_url, &title)
            .map_err(|reason| eyelevel_archive::Error::Import {
                path: from.to_owned(),
                reason,
            })?;
    write_wacz(out, &imported.exchanges, &metadata)?;
    print_json(&Site::open(out)?.info());
    Ok(())
}

fn parse_viewport(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once('x').map(|(w, h)| (w.parse(), h.parse()));
    match sides {
        Some((Ok(width), Ok(height))) if width > 0 && height > 0 => Ok((width, height)),
        _ => Err("a viewport is width and height in CSS pixels, as 1366x768".to_owned()),
    }
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
    println!(
        "secure share    {:.0} % of the exchanges, {:.0} % of the bytes",
        info.secure_share * 100.0,
        info.secure_bytes_share * 100.0
    );
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
