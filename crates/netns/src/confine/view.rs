//! What a confined program sees of the file system: the system, read-only, the paths that were
//! named for it, and folders of its own for everything else.

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

/// Folders and links of the system. What is not there is left out.
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

/// Devices without a memory or a user behind them.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// Folders of its own in which everybody may write.
const OWN_FOLDERS: &[&str] = &["/tmp", "/var/tmp", "/run", "/dev/shm"];

/// All of these folders together: they are memory, and without a bound a page could take half of the
/// machine's in each lab. A browser's profile is not among them, and the shared memory of a page of
/// many large pictures is a third of this.
const OWN_BOUNDS: &[(&CStr, &CStr)] = &[(c"size", c"1G"), (c"nr_inodes", c"100k")];

/// Links that every system has.
const OWN_LINKS: &[(&str, &str)] = &[
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/var/run", "/run"),
];

/// Files by which names are found. A lab has bound its own over them, perhaps through a link into
/// a folder that the program does not see.
const NAME_FILES: &[&str] = &["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"];

/// Who uses this machine, and which one it is, are nobody's business: their contents in the view.
const OWN_FILES: &[(&str, &str)] = &[
    (
        "/etc/passwd",
        "root:x:0:0::/:/bin/sh\nbrowser:x:1000:1000::/tmp:/bin/sh\n",
    ),
    ("/etc/group", "root:x:0:\nbrowser:x:1000:\n"),
    // Copies of earlier days, and whose ids are whose.
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

/// Where the new root is put together. The old view of processes is covered by it.
const STAGE: &str = "/proc";

/// Paths beyond the system's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Absolute paths of folders and files that the program may change.
    pub writable: Vec<PathBuf>,
    /// Absolute paths of folders, files and sockets that it may only read, or connect to.
    pub readable: Vec<PathBuf>,
}

impl View {
    /// Replaces the calling process's root by the view. The process must stand in mount and process
    /// namespaces of its own, as process 1, with the right to mount in them.
    pub(super) fn enter(&self) -> Result<(), Error> {
        make_private()?;
        let sources = self.sources()?;
        let names = NAME_FILES
            .iter()
            .filter_map(|&path| Some((path, fs::read_to_string(path).ok()?)))
            .collect::<Vec<_>>();
        // While the old one is there: whoever has no full view of /proc may not make a new one.
        let proc = new_file_system(c"proc", &[], MOUNT_PROC).map_err(|e| {
            e.remedy("a container that hides parts of /proc forbids it: see `eyelevel doctor`")
        })?;
        let root = new_file_system(c"tmpfs", OWN_BOUNDS, READ_WRITE)?;
        attach(&root, Path::new(STAGE))?;
        std::env::set_current_dir(STAGE).map_err(|e| Error::new("enter the new root", e))?;
        set_mode(Path::new("."), 0o755)?;
        for own in OWN_FOLDERS {
            make_folder(&inside(Path::new(own)))?;
            set_mode(&inside(Path::new(own)), 0o1777)?;
            // A mount of its own: the root around it becomes read-only in the end.
            let mount = clone_tree(&inside(Path::new(own)), READ_WRITE)?;
            attach(&mount, &inside(Path::new(own)))?;
        }
        for (path, source) in &sources {
            source.put(path)?;
        }
        for (link, target) in OWN_LINKS {
            make_parent(Path::new(link))?;
            symlink(target, inside(Path::new(link))).map_err(|e| Error::new(*link, e))?;
        }
        make_folder(&inside(Path::new("/proc")))?;
        attach(&proc, &inside(Path::new("/proc")))?;
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
        // An outer path would cover the inner one.
        sources.sort_by_key(|(path, _)| path.components().count());
        Ok(sources)
    }
}

/// Something of the old root, held while its place in the new one is made.
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

    /// Puts it at `path` of the new root, which is the working directory.
    fn put(&self, path: &Path) -> Result<(), Error> {
        let place = inside(path);
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

/// Settings of the kernel can be read only. In an ordinary user's lab the program's user owns those of
/// the network namespace.
fn hide_settings() -> Result<(), Error> {
    let settings = inside(Path::new("/proc/sys"));
    attach(&clone_tree(&settings, READ_ONLY)?, &settings)
}

/// Lets `content` stand at `path` of the new root: over a file that is there, and at the end of a
/// link that leads into an own folder. Where nothing could be read it stays away.
fn write_over(path: &Path, content: &str) -> Result<(), Error> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::read_link(inside(&path)) {
            Ok(target) => path = normal(&path.parent().unwrap_or(&path).join(target)),
            Err(_) => break,
        }
    }
    let place = inside(&path);
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

/// The place of an absolute path below the new root, which is the working directory.
fn inside(path: &Path) -> PathBuf {
    Path::new(".").join(path.strip_prefix("/").unwrap_or(path))
}

/// The path without `.` and `..`, which lead nowhere above the root.
fn normal(path: &Path) -> PathBuf {
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
    make_folder(&inside(path.parent().unwrap_or(path)))
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
        let of = |path: &str| normal(Path::new(path));
        assert_eq!(
            of("/etc/../run/resolve/stub.conf"),
            Path::new("/run/resolve/stub.conf")
        );
        assert_eq!(of("/../../etc/./hosts"), Path::new("/etc/hosts"));
        assert_eq!(inside(&of("/etc/hosts")), Path::new("./etc/hosts"));
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
