//! A confined program's view of the file system: the system, read-only, the paths that were given
//! to it, and private folders for everything else.

use super::mounts::{
    MOUNT_DEVICE, MOUNT_PROC, READ_ONLY, READ_WRITE, attach, clone_tree, make_private,
    new_file_system, pivot,
};
use crate::Error;
use rustix::mount::MountAttrFlags;
use std::ffi::CStr;
use std::fs::{self, Permissions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

/// Folders and links of the system; absent ones are left out.
const SYSTEM: &[&str] = &[
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr",
    "/etc",
    "/opt",
    "/nix/store",
    "/var/cache/fontconfig",
];

/// Devices without memory or a user behind them.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// Private folders that every user may write to.
const OWN_FOLDERS: &[&str] = &["/tmp", "/var/tmp", "/run", "/dev/shm"];

/// The limits of the private folders together: they are in memory, and an unlimited page could use
/// half of the machine's in each lab. A browser's profile is not among them, and the shared memory
/// of a page of many large images is a third of this.
const OWN_BOUNDS: &[(&CStr, &CStr)] = &[(c"size", c"1G"), (c"nr_inodes", c"100k")];

/// Links that every system has.
const OWN_LINKS: &[(&str, &str)] = &[
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/var/run", "/run"),
];

/// The files for name resolution. A lab has bound its own over them, perhaps through a link into a
/// folder outside the view.
const NAME_FILES: &[&str] = &["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"];

/// Replaced files, which would reveal the machine and its users, with their contents in the view.
const OWN_FILES: &[(&str, &str)] = &[
    (
        "/etc/passwd",
        "root:x:0:0::/:/bin/sh\nbrowser:x:1000:1000::/tmp:/bin/sh\n",
    ),
    ("/etc/group", "root:x:0:\nbrowser:x:1000:\n"),
    // Backups, and the ranges of subordinate ids.
    ("/etc/passwd-", ""),
    ("/etc/group-", ""),
    ("/etc/subuid", ""),
    ("/etc/subuid-", ""),
    ("/etc/subgid", ""),
    ("/etc/subgid-", ""),
    ("/etc/hostname", "lab\n"),
    ("/etc/machine-id", "00000000000000000000000000000001\n"),
    (
        "/var/lib/dbus/machine-id",
        "00000000000000000000000000000001\n",
    ),
];

const LINKS_MAX: usize = 8;

/// The folder in which the new root is assembled. It covers the old view of processes.
const STAGE: &str = "/proc";

/// Paths to include besides the system's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Absolute paths of folders and files that the program may change.
    pub writable: Vec<PathBuf>,
    /// Absolute paths of folders, files and sockets that it may only read, or connect to.
    pub readable: Vec<PathBuf>,
    /// Folders and files that it may only read, each at another place: the path, then the place.
    pub placed: Vec<(PathBuf, PathBuf)>,
}

impl View {
    /// Replaces the calling process's root by the view. The process must be process 1 in separate
    /// mount and process namespaces, with the capability to mount in them.
    pub(super) fn enter(&self) -> Result<(), Error> {
        make_private()?;
        let sources = self.sources()?;
        let names = NAME_FILES
            .iter()
            .filter_map(|&path| Some((path, fs::read_to_string(path).ok()?)))
            .collect::<Vec<_>>();
        // Mounted while the old one is visible: the kernel requires a full view of /proc for a new
        // one.
        let proc = new_file_system(c"proc", &[], MOUNT_PROC).map_err(|e| {
            e.remedy("a container that hides parts of /proc forbids it: see `eyelevel doctor`")
        })?;
        let root = new_file_system(c"tmpfs", OWN_BOUNDS, READ_WRITE)?;
        attach(&root, Path::new(STAGE))?;
        std::env::set_current_dir(STAGE).map_err(|e| Error::new("enter the new root", e))?;
        set_mode(Path::new("."), 0o755)?;
        for own in OWN_FOLDERS {
            make_folder(&relative_to_new_root(Path::new(own)))?;
            set_mode(&relative_to_new_root(Path::new(own)), 0o1777)?;
            // A separate mount, because the root around it becomes read-only in the end.
            let mount = clone_tree(&relative_to_new_root(Path::new(own)), READ_WRITE)?;
            attach(&mount, &relative_to_new_root(Path::new(own)))?;
        }
        for (path, source) in &sources {
            source.attach_at(path)?;
        }
        for (link, target) in OWN_LINKS {
            make_parent(Path::new(link))?;
            symlink(target, relative_to_new_root(Path::new(link)))
                .map_err(|e| Error::new(*link, e))?;
        }
        make_folder(&relative_to_new_root(Path::new("/proc")))?;
        attach(&proc, &relative_to_new_root(Path::new("/proc")))?;
        hide_settings()?;
        for (path, content) in &names {
            write_over(Path::new(path), content)?;
        }
        for (path, content) in OWN_FILES {
            write_over(Path::new(path), content)?;
        }
        pivot()
    }

    fn sources(&self) -> Result<Vec<(PathBuf, Source)>, Error> {
        let mut sources = Vec::new();
        for path in SYSTEM.iter().map(Path::new) {
            if let Ok(target) = fs::read_link(path) {
                sources.push((path.to_owned(), Source::Link(target)));
            } else if path.exists() {
                sources.push((path.to_owned(), Source::open(path, READ_ONLY)?));
            }
        }
        for device in DEVICES.iter().map(|name| Path::new("/dev").join(name)) {
            if device.exists() {
                sources.push((device.clone(), Source::open(&device, MOUNT_DEVICE)?));
            }
        }
        for (paths, attributes) in [(&self.readable, READ_ONLY), (&self.writable, READ_WRITE)] {
            for path in paths {
                sources.push((path.clone(), Source::open(path, attributes)?));
            }
        }
        for (path, place) in &self.placed {
            sources.push((place.clone(), Source::open(path, READ_ONLY)?));
        }
        // Mounting an outer path later would cover the inner one.
        sources.sort_by_key(|(path, _)| path.components().count());
        Ok(sources)
    }
}

/// A source from the old root, held until it is attached in the new one.
enum Source {
    Tree { mount: OwnedFd, is_folder: bool },
    Link(PathBuf),
}

impl Source {
    fn open(path: &Path, attributes: MountAttrFlags) -> Result<Self, Error> {
        let is_folder = fs::metadata(path)
            .map_err(|e| Error::new(format!("show {} to a confined program", path.display()), e))?
            .is_dir();
        let mount = clone_tree(path, attributes)?;
        Ok(Self::Tree { mount, is_folder })
    }

    /// Attaches the source at `path` of the new root, which is the working directory.
    fn attach_at(&self, path: &Path) -> Result<(), Error> {
        let place = relative_to_new_root(path);
        match self {
            Self::Link(target) => {
                make_parent(path)?;
                symlink(target, &place).map_err(|e| Error::new(path.display().to_string(), e))
            }
            Self::Tree { mount, is_folder } => {
                if *is_folder {
                    make_folder(&place)?;
                } else if fs::symlink_metadata(&place).is_err() {
                    make_parent(path)?;
                    make_file(&place, "")?;
                }
                attach(mount, &place)
            }
        }
    }
}

/// Makes kernel settings read-only. In an ordinary user's lab the program's user owns those of the
/// network namespace.
fn hide_settings() -> Result<(), Error> {
    let settings = relative_to_new_root(Path::new("/proc/sys"));
    attach(&clone_tree(&settings, READ_ONLY)?, &settings)
}

/// Replaces the file at `path` of the new root by `content`, also at the end of a link that leads
/// into a private folder. Unreadable files stay absent.
fn write_over(path: &Path, content: &str) -> Result<(), Error> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::read_link(relative_to_new_root(&path)) {
            Ok(target) => path = normalize(&path.parent().unwrap_or(&path).join(target)),
            Err(_) => break,
        }
    }
    let place = relative_to_new_root(&path);
    if place.is_file() {
        let own = PathBuf::from("./tmp/.own");
        make_file(&own, content)?;
        attach(&clone_tree(&own, READ_ONLY)?, &place)?;
        return fs::remove_file(&own).map_err(|e| Error::new("remove a name", e));
    }
    if OWN_FOLDERS.iter().any(|own| path.starts_with(own)) {
        make_parent(&path)?;
        make_file(&place, content)?;
    }
    Ok(())
}

/// Returns the position of an absolute path below the new root, which is the working directory.
fn relative_to_new_root(path: &Path) -> PathBuf {
    Path::new(".").join(path.strip_prefix("/").unwrap_or(path))
}

/// Normalises a path: resolves `.` and `..`, which never lead above the root.
fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::Normal(name) => normal.push(name),
            _ => {}
        }
    }
    normal
}

fn make_parent(path: &Path) -> Result<(), Error> {
    make_folder(&relative_to_new_root(path.parent().unwrap_or(path)))
}

fn make_folder(place: &Path) -> Result<(), Error> {
    let mut builder = fs::DirBuilder::new();
    builder
        .recursive(true)
        .mode(0o755)
        .create(place)
        .map_err(|e| Error::new(format!("make the folder {}", place.display()), e))
}

fn make_file(place: &Path, content: &str) -> Result<(), Error> {
    fs::write(place, content)
        .map_err(|e| Error::new(format!("make the file {}", place.display()), e))?;
    set_mode(place, 0o644)
}

fn set_mode(place: &Path, mode: u32) -> Result<(), Error> {
    fs::set_permissions(place, Permissions::from_mode(mode))
        .map_err(|e| Error::new(format!("set the rights of {}", place.display()), e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_links_target_never_leaves_the_root() {
        let of = |path: &str| normalize(Path::new(path));
        assert_eq!(
            of("/etc/../run/resolve/stub.conf"),
            Path::new("/run/resolve/stub.conf")
        );
        assert_eq!(of("/../../etc/./hosts"), Path::new("/etc/hosts"));
        assert_eq!(
            relative_to_new_root(&of("/etc/hosts")),
            Path::new("./etc/hosts")
        );
    }

    #[test]
    fn a_path_that_is_not_there_is_named() {
        let view = View {
            readable: vec!["/nowhere/at/all".into()],
            ..View::default()
        };
        let error = view.sources().err().expect("there is no such path");
        assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    }
}
