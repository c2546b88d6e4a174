//! Atomic file writes: a file is written as a draft in the same folder and then renamed, so that it
//! is complete under its name or absent.
//!
//! The draft's name is random and created exclusively, so that no link is followed. Its writer
//! holds a lock on it, which the kernel releases however the writer ends; the next writer of the
//! same file removes drafts without an owner.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A step of writing a file, in order. Tests end the process and fill the disk at each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The writing has begun, and nothing is on disk.
    Begun,
    /// The draft exists, empty and locked.
    Made,
    /// The draft has all its bytes.
    Written,
    /// The draft's bytes are on the disk.
    Synced,
    /// The draft has the file's name.
    Renamed,
    /// The name is on the disk.
    Done,
}

impl Step {
    /// All steps, in their order.
    pub const ALL: [Self; 6] = [
        Self::Begun,
        Self::Made,
        Self::Written,
        Self::Synced,
        Self::Renamed,
        Self::Done,
    ];
}

const PRIVATE: u32 = 0o600;
const USUAL: u32 = 0o666;
const SUFFIX: &str = ".part";
const RANDOM_DIGITS: usize = 16;

/// Writes the file `path` atomically with `write`; `at` is called with each step.
///
/// Fails with the error of `write` or of the system; `path` is then unchanged.
pub(crate) fn write_atomically<E>(
    path: &Path,
    write: impl FnOnce(&File) -> Result<(), E>,
    mut at: impl FnMut(Step),
    io_error: impl Fn(&'static str, io::Error) -> E,
) -> Result<(), E> {
    at(Step::Begun);
    remove_orphans(path);
    let draft = Draft::make(path).map_err(|error| io_error("write beside", error))?;
    at(Step::Made);
    write(&draft.file)?;
    at(Step::Written);
    draft
        .sync()
        .map_err(|error| io_error("write to the disk", error))?;
    at(Step::Synced);
    draft
        .rename_to(path)
        .map_err(|error| io_error("rename the temporary file to", error))?;
    at(Step::Renamed);
    let synced = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
    synced.map_err(|error| io_error("have the name on the disk of", error))?;
    at(Step::Done);
    Ok(())
}

/// The draft of a file, removed on drop.
struct Draft {
    path: PathBuf,
    file: File,
}

impl Draft {
    fn make(target: &Path) -> io::Result<Self> {
        loop {
            let random = RandomState::new().build_hasher().finish();
            let name = format!("{}{random:016x}{SUFFIX}", prefix_of(target));
            let path = target.with_file_name(name);
            let file = new_file(&path)?;
            let draft = Self { path, file };
            let locked = draft.file.try_lock();
            // Between creating and locking, another writer may have removed it as an orphan. File
            // systems without locks keep orphans.
            if !matches!(locked, Err(TryLockError::WouldBlock))
                && is_named(&draft.file, &draft.path)
            {
                return Ok(draft);
            }
        }
    }

    fn sync(&self) -> io::Result<()> {
        let usual = Permissions::from_mode(USUAL & !umask());
        self.file.set_permissions(usual)?;
        self.file.sync_all()
    }

    fn rename_to(&self, target: &Path) -> io::Result<()> {
        std::fs::rename(&self.path, target)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if is_named(&self.file, &self.path) {
            let _ = std::fs::remove_file(&self.path); // the next writer removes it
        }
    }
}

/// Creates a new file, private because it is incomplete. An existing file or link is refused.
fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create_new(true)
        .mode(PRIVATE);
    options.open(path)
}

fn is_named(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Removes drafts of `target` whose writers are gone.
fn remove_orphans(target: &Path) {
    let prefix = prefix_of(target);
    let Ok(entries) = std::fs::read_dir(folder_of(target)) else {
        return; // making the draft says why
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let random = name
            .to_str()
            .and_then(|name| name.strip_prefix(&prefix)?.strip_suffix(SUFFIX));
        let is_draft = random.is_some_and(|random| {
            random.len() == RANDOM_DIGITS && random.bytes().all(|each| each.is_ascii_hexdigit())
        });
        // A link or a pipe is never a draft, and opening a pipe would block.
        if is_draft && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let is_orphan = File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
            if is_orphan {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

fn prefix_of(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default();
    format!(".{}.", name.to_string_lossy())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns the process's umask.
fn umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|digits| u32::from_str_radix(digits.trim(), 8).ok())
        .unwrap_or(0o022)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_under_the_temporary_name_is_refused() {
        let folder = std::env::temp_dir().join(format!("eyelevel-draft-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (victim, link) = (folder.join("victim"), folder.join("link"));
        std::fs::write(&victim, "kept").unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        let refused = new_file(&link).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&victim).unwrap(), b"kept");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn no_draft_can_be_guessed_or_read_by_others() {
        let target = std::env::temp_dir().join("eyelevel-draft.wacz");
        let (one, two) = (Draft::make(&target).unwrap(), Draft::make(&target).unwrap());
        assert_ne!(one.path, two.path);
        let mode = one.file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, PRIVATE);
        remove_orphans(&target);
        assert!(one.path.exists() && two.path.exists(), "both have owners");
        let path = one.path.clone();
        drop(one);
        assert!(!path.exists());
    }
}
