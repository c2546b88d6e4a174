//! `eyelevel-lab record`: the recording proxy as a process (`spec/archive.md`, "The recorder").

use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use clap::Args;
use eyelevel_archive::{Provenance, Screenshot, Site, SiteInfo, Url, map_file};
use eyelevel_netns::{create_loopback_only, local_addresses};
use eyelevel_recorder::{
    Credentials, Reach, RecordError, Recorder, RecorderOptions, Store, StoreCounts, Writing,
};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use crate::Error;
use crate::emit::emit;
use crate::threads::runtime;
use crate::upstream_ca::UpstreamCa;

/// The arguments after `record`.
#[derive(Debug, Args)]
pub struct RecordArguments {
    /// The WACZ to write
    #[arg(long)]
    out: PathBuf,
    /// For any client that has the credentials: a port of this machine's loopback; 0 for any free
    /// one. Without it, the proxy listens in a network namespace that has nothing else
    #[arg(long)]
    port: Option<u16>,
    #[command(flatten)]
    upstream_ca: UpstreamCa,
    /// HOST:PORT:ADDRESS:PORT: the address of a server that is not to be looked up by name
    #[arg(long)]
    resolve: Vec<String>,
    /// The URL of a page to record: if it names an address, that one may be reached
    #[arg(long)]
    page: Vec<String>,
    /// HOST[:PORT], ADDRESS[:PORT] or a range that may be reached although it is not public
    #[arg(long)]
    allow: Vec<String>,
    /// Store cookies and credentials, too
    #[arg(long)]
    keep_cookies: bool,
}

/// The most queued commands; callers send a few.
const COMMANDS_MAX: usize = 16;

#[derive(Debug, Deserialize)]
#[serde(tag = "command", rename_all = "lowercase", deny_unknown_fields)]
enum Command {
    /// Begins another visit.
    Visit,
    /// Reports how much was recorded so far.
    Counts,
    /// Reports which of a host's exchanges were left out.
    Why { host: String },
    /// Writes the site and ends.
    Stop(Box<Stop>),
}

/// The metadata of the recording to write.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stop {
    main_url: Option<Url>,
    title: Option<String>,
    #[serde(default)]
    visits: u32,
    viewport_px: Option<(u32, u32)>,
    #[serde(default)]
    mobile: bool,
    /// The initiators, by requested URL.
    #[serde(default)]
    initiators: HashMap<String, String>,
    /// A file with a screenshot of the page, WebP.
    screenshot: Option<PathBuf>,
    /// The hosts that the page requested; without it, every client's exchanges are stored.
    hosts: Option<HashSet<String>>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Event<'a> {
    Ready {
        address: SocketAddr,
        spki_sha256: String,
        ca_certificate: &'a str,
        /// The process whose namespaces the clients join.
        #[serde(skip_serializing_if = "Option::is_none")]
        init_pid: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        credentials: Option<String>,
    },
    Counts(StoreCounts),
    Why {
        left_out: Option<String>,
    },
    Written {
        counts: StoreCounts,
        info: Box<SiteInfo>,
    },
}

/// Records until the command `stop`; the end of the input without it writes nothing.
pub fn run(arguments: RecordArguments) -> Result<i32, Error> {
    // First of all, because the process must not have a second thread yet.
    let enclosed = match arguments.port {
        None => Some(create_loopback_only()?),
        Some(_) => None,
    };
    let init_pid = enclosed.as_ref().map(|enclosed| enclosed.init_pid);
    let credentials = arguments.port.map(|_| Credentials::new()).transpose()?;
    let user_info = credentials.as_ref().map(Credentials::to_user_info);
    let mut spool = arguments.out.clone().into_os_string();
    spool.push(format!(".{}.spool", std::process::id()));
    let store = Arc::new(Store::new(spool.into(), arguments.keep_cookies)?);
    let options = RecorderOptions {
        listener: Some(match enclosed {
            Some(enclosed) => enclosed.listener,
            None => listen(arguments.port.unwrap_or(0))?,
        }),
        credentials,
        roots: arguments.upstream_ca.read(Some)?,
        addresses: parse_addresses(&arguments.resolve)?,
        reach: parse_reach(&arguments)?,
    };
    runtime()?.block_on(async {
        let mut commands = read_commands();
        let recorder = Recorder::bind(options, store.clone()).await?;
        emit(&Event::Ready {
            address: recorder.address(),
            spki_sha256: recorder.authority().spki_sha256(),
            ca_certificate: recorder.authority().root_pem(),
            init_pid,
            credentials: user_info,
        });
        let (shutdown, ended) = oneshot::channel::<()>();
        let serving = tokio::spawn(recorder.run(async { ended.await.unwrap_or_default() }));
        let writing = loop {
            match commands.recv().await {
                Some(Ok(Command::Visit)) => store.begin_visit(),
                Some(Ok(Command::Counts)) => emit(&Event::Counts(store.counts())),
                Some(Ok(Command::Why { host })) => emit(&Event::Why {
                    left_out: store.why_left_out(&host),
                }),
                Some(Ok(Command::Stop(stop))) => break read_writing(*stop)?,
                Some(Err(reason)) => return Err(Error::Config(reason)),
                None => {
                    let reason = "the recorder's input ended before it was told to stop: \
                                  nothing is written; record again";
                    return Err(Error::Config(reason.to_owned()));
                }
            }
        };
        store.settle().await;
        // Open requests are reported as left out, so they are counted before their connections end.
        store.write(&arguments.out, writing)?;
        let counts = store.counts();
        drop(shutdown);
        let _ = serving.await;
        let info = Box::new(Site::open(&arguments.out)?.info());
        emit(&Event::Written { counts, info });
        Ok(0)
    })
}

fn read_writing(stop: Stop) -> Result<Writing, Error> {
    let Stop {
        main_url,
        title,
        visits,
        viewport_px,
        mobile,
        initiators,
        screenshot,
        hosts,
    } = stop;
    let screenshot = screenshot.map(|file| map_file(&file)).transpose()?;
    let normal = |url: &str| Some(url.parse::<Url>().ok()?.to_string());
    let pairs = initiators.iter();
    Ok(Writing {
        main_url,
        title,
        provenance: Provenance {
            visits,
            viewport_px,
            mobile,
            ..Provenance::default()
        },
        initiators: pairs
            .filter_map(|(url, initiator)| Some((normal(url)?, normal(initiator)?)))
            .collect(),
        screenshot: screenshot.map(|image| Screenshot {
            media_type: "image/webp".to_owned(),
            // Copied, because the caller may remove the file.
            image: image.to_vec().into(),
        }),
        hosts,
    })
}

fn read_commands() -> mpsc::Receiver<Result<Command, String>> {
    let (sender, receiver) = mpsc::channel(COMMANDS_MAX);
    thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let command = serde_json::from_str(&line);
            let command = command.map_err(|error| {
                format!("the command {:.200}: {error}; see spec/lab-events.md", line)
            });
            if sender.blocking_send(command).is_err() {
                break;
            }
        }
    });
    receiver
}

fn listen(port: u16) -> Result<TcpListener, RecordError> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(address).map_err(|error| RecordError::Setup {
        attempt: format!("listen on {address}"),
        reason: error.to_string(),
        remedy: "name another port",
    })
}

fn parse_reach(arguments: &RecordArguments) -> Result<Reach, Error> {
    let mut reach = Reach::new(local_addresses()?);
    // Only a valid URL can name an address.
    let pages = arguments.page.iter().filter_map(|text| text.parse().ok());
    pages.for_each(|url| reach.allow_page(&url));
    for text in &arguments.allow {
        reach.allow(text).map_err(Error::Config)?;
    }
    Ok(reach)
}

fn parse_addresses(given: &[String]) -> Result<HashMap<(String, u16), SocketAddr>, Error> {
    let parse = |text: &String| {
        let (host, rest) = text.split_once(':')?;
        let (port, address) = rest.split_once(':')?;
        Some(((host.to_owned(), port.parse().ok()?), address.parse().ok()?))
    };
    let entry = |text| {
        parse(text).ok_or_else(|| {
            Error::Config(format!(
                "--resolve {text}: write HOST:PORT:ADDRESS:PORT, an IPv6 address in brackets"
            ))
        })
    };
    given.iter().map(entry).collect()
}
