//! `eyelevel-lab confine`: runs a browser or a third-party server with read-only access to the
//! system.

use crate::Error;
use clap::Args;
use eyelevel_netns::confine::{self, Identity, View};
use std::path::PathBuf;

#[derive(Args)]
pub struct ConfineArguments {
    /// When run as root: the unprivileged user and group to run as, by their numbers
    #[arg(long, value_name = "UID:GID", value_parser = parse_identity)]
    user: Option<Identity>,
    /// A folder or file that the command may change; repeatable
    #[arg(long, value_name = "PATH")]
    writable: Vec<PathBuf>,
    /// A folder, file or socket outside the system's that the command may read; repeatable
    #[arg(long, value_name = "PATH")]
    readable: Vec<PathBuf>,
    /// A folder or file that the command may read, at another place; repeatable
    #[arg(long, value_name = "PATH=PLACE", value_parser = parse_placed)]
    placed: Vec<(PathBuf, PathBuf)>,
    /// The number of descriptors after standard error that the command keeps
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..100))]
    descriptors: u32,
    /// The command and its arguments
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Runs the command; returns its exit status, or 128 plus the signal that ended it.
pub fn run(arguments: ConfineArguments) -> Result<i32, Error> {
    let identity = match arguments.user {
        Some(identity) => identity,
        None => Identity::from_caller()?,
    };
    let placed = arguments
        .placed
        .iter()
        .flat_map(|(path, place)| [path, place]);
    let paths = [&arguments.writable, &arguments.readable];
    let paths = paths
        .into_iter()
        .flatten()
        .chain(placed)
        .collect::<Vec<_>>();
    if let Some(path) = paths.iter().find(|path| !path.is_absolute()) {
        let path = path.display();
        return Err(Error::Config(format!("the path {path} must be absolute")));
    }
    if paths.iter().any(|path| path.parent().is_none()) {
        return Err(Error::Config(
            "the path / is all of the machine; name folders of it".into(),
        ));
    }
    let view = View {
        writable: arguments.writable,
        readable: arguments.readable,
        placed: arguments.placed,
    };
    Ok(confine::run(
        identity,
        &view,
        arguments.descriptors,
        &arguments.command,
    )?)
}

fn parse_placed(text: &str) -> Result<(PathBuf, PathBuf), String> {
    let (path, place) = text
        .rsplit_once('=')
        .ok_or("it takes two paths, PATH=PLACE")?;
    Ok((path.into(), place.into()))
}

fn parse_identity(text: &str) -> Result<Identity, String> {
    let (user, group) = text
        .split_once(':')
        .ok_or("it takes two numbers, UID:GID")?;
    let number = |part: &str| {
        part.parse::<u32>()
            .map_err(|_| format!("{part} is no number; write UID:GID"))
    };
    match (number(user)?, number(group)?) {
        (0, _) | (_, 0) => Err("root is no unprivileged user; name another one".into()),
        (user, group) => Ok(Identity { user, group }),
    }
}
