//! `eyelevel-lab confine`: a browser or somebody's server, with the system to read and nothing else.

use crate::Error;
use clap::Args;
use eyelevel_netns::confine::{self, Identity, View};
use std::path::PathBuf;

#[derive(Args)]
pub struct ConfineArguments {
    /// With root's rights: the unprivileged user and group to run as, by their numbers
    #[arg(long, value_name = "UID:GID", value_parser = identity)]
    user: Option<Identity>,
    /// A folder or file that the command may change; repeatable
    #[arg(long, value_name = "PATH")]
    writable: Vec<PathBuf>,
    /// A folder, file or socket beside the system's that the command may read; repeatable
    #[arg(long, value_name = "PATH")]
    readable: Vec<PathBuf>,
    /// How many descriptors after standard error the command keeps
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..100))]
    descriptors: u32,
    /// The command and its arguments
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Runs the command; its exit status, or 128 plus the signal that ended it.
pub fn run(arguments: ConfineArguments) -> Result<i32, Error> {
    let identity = match arguments.user {
        Some(identity) => identity,
        None => Identity::of_caller()?,
    };
    let paths = [&arguments.writable, &arguments.readable];
    if let Some(path) = paths.into_iter().flatten().find(|path| !path.is_absolute()) {
        let path = path.display();
        return Err(Error::Config(format!("the path {path} must be absolute")));
    }
    if paths
        .into_iter()
        .flatten()
        .any(|path| path.parent().is_none())
    {
        return Err(Error::Config(
            "the path / is all of the machine; name folders of it".into(),
        ));
    }
    let view = View {
        writable: arguments.writable,
        readable: arguments.readable,
    };
    Ok(confine::run(
        identity,
        &view,
        arguments.descriptors,
        &arguments.command,
    )?)
}

fn identity(text: &str) -> Result<Identity, String> {
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
