//! Finds the stopped processes in `/proc`, with their names.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The most processes that are read: more than a browser has, for a page that starts as many as it
/// can.
const PROCESSES_MAX: usize = 512;
/// The beginning of a command line that is read; it contains Chromium's process type.
const COMMAND_BYTES_MAX: usize = 4096;
const STAT_BYTES_MAX: usize = 1024;
/// The longest name in a message, because a program chooses its own name.
const NAME_CHARS_MAX: usize = 60;

/// The parent of this process, which drives the load from outside the lab.
pub struct Driver(Option<File>);

impl Driver {
    /// Opens it; must be called before the lab has its own `/proc`.
    pub fn open() -> Self {
        let parent = std::os::unix::process::parent_id();
        Self(File::open(format!("/proc/{parent}/stat")).ok())
    }
}

/// A lab's own `/proc`, as seen from inside or outside.
pub struct Processes(PathBuf);

impl Processes {
    /// Returns that of the lab that this process is in.
    pub fn here() -> Self {
        Self("/proc".into())
    }

    /// Returns that of the lab with this process 1.
    pub fn of(init_pid: u32) -> Self {
        Self(format!("/proc/{init_pid}/root/proc").into())
    }

    /// Whether `/proc` is the lab's own. If the machine hides parts of `/proc`, no new one can be
    /// mounted, and the old one shows all of the machine's processes. An observer from outside has
    /// no number in a lab's.
    pub fn is_labs_own(&self) -> bool {
        let own = fs::read_link(self.0.join("self"));
        own.map_or(self.0.join("1/stat").exists(), |own| own == Path::new("1"))
    }
}

/// Returns the stopped processes of the lab, and its driver (0), with their names.
pub fn find_stopped(processes: &Processes, driver: &Driver) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    if let Some(stat) = driver.0.as_ref().and_then(read_whole)
        && is_stopped(&stat)
    {
        let name = format!("the process that drives the load ({})", program_name(&stat));
        found.push((0, name));
    }
    let entries = fs::read_dir(&processes.0).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    for number in numbers.take(PROCESSES_MAX) {
        // A process that has ended meanwhile is not suspended.
        let folder = processes.0.join(number.to_string());
        let stat = File::open(folder.join("stat"));
        if let Some(stat) = stat.ok().as_ref().and_then(read_whole)
            && is_stopped(&stat)
        {
            found.push((number, process_name(&folder, &stat)));
        }
    }
    found
}

pub fn read_whole(file: &File) -> Option<String> {
    let mut buffer = [0; STAT_BYTES_MAX];
    let length = file.read_at(&mut buffer, 0).ok()?;
    Some(String::from_utf8_lossy(&buffer[..length]).into_owned())
}

/// Whether a process is stopped by a signal or a debugger: the third field of `/proc/PID/stat`
/// (proc(5)).
fn is_stopped(stat: &str) -> bool {
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
    state.is_some_and(|rest| rest.starts_with(['T', 't']))
}

/// Returns the second field, which is in parentheses and may itself contain some.
fn program_name(stat: &str) -> String {
    let inside = stat
        .split_once('(')
        .and_then(|(_, rest)| rest.rsplit_once(')'));
    escape_name(inside.map_or("", |(program, _)| program))
}

/// Returns the program's name, with Chromium's process type.
fn process_name(folder: &Path, stat: &str) -> String {
    let mut command = vec![0; COMMAND_BYTES_MAX];
    let length = File::open(folder.join("cmdline"))
        .and_then(|file| file.read_at(&mut command, 0))
        .unwrap_or(0);
    let command = String::from_utf8_lossy(&command[..length]);
    match chromium_process_type(&command) {
        Some(kind) => format!("{} ({kind})", program_name(stat)),
        None => program_name(stat),
    }
}

/// A zygote's children rewrite their arguments, separated by spaces.
fn chromium_process_type(command: &str) -> Option<String> {
    let mut words = command.split(['\0', ' ']);
    let of = |word: &str, option: &str| word.strip_prefix(option).map(escape_name);
    let sub = |word| of(word, "--utility-sub-type=");
    let found = words.clone().find_map(sub);
    found.or_else(|| words.find_map(|word| of(word, "--type=")))
}

fn escape_name(text: &str) -> String {
    let shown = text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ');
    shown.take(NAME_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_names_are_read_for_any_program_name() {
        assert!(is_stopped("12 (a) R (b)) T 1 2"));
        assert!(is_stopped("12 (a) t 1 2"));
        assert!(!is_stopped("12 (a) T 1) S 1 2") && !is_stopped(""));
        assert_eq!(program_name("12 (a) (\u{7}b)) T 1"), "a) (b)");
    }

    #[test]
    fn chromium_process_types_are_read() {
        let service = "chromium\0--type=utility\0--utility-sub-type=network.mojom.NetworkService\0";
        assert_eq!(
            chromium_process_type(service).unwrap(),
            "network.mojom.NetworkService"
        );
        assert_eq!(
            chromium_process_type("chromium --type=renderer --x").unwrap(),
            "renderer"
        );
        assert_eq!(chromium_process_type("chromium\0--headless\0"), None);
    }
}
