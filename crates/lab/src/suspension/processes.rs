//! Which processes are stopped, as `/proc` tells, and what they are called.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// More are no browser, but a page that starts what it can.
const PROCESSES_MAX: usize = 512;
/// The beginning of a command line: Chromium's kinds of processes stand there.
const COMMAND_BYTES_MAX: usize = 4096;
const STAT_BYTES_MAX: usize = 1024;
/// A name in a message: a program names itself as it likes.
const NAME_CHARS_MAX: usize = 60;

/// Whoever started this process: it drives the load, from outside the lab.
pub struct Driver(Option<File>);

impl Driver {
    /// To be opened before the lab has its own `/proc`.
    pub fn open() -> Self {
        let parent = std::os::unix::process::parent_id();
        Self(File::open(format!("/proc/{parent}/stat")).ok())
    }
}

/// A lab's own `/proc`, as seen from inside or outside.
pub struct Processes(PathBuf);

impl Processes {
    /// Of the lab that this process is in.
    pub fn here() -> Self {
        Self("/proc".into())
    }

    /// Of the lab with this process 1.
    pub fn of(init_pid: u32) -> Self {
        Self(format!("/proc/{init_pid}/root/proc").into())
    }

    /// Where the machine hides parts of `/proc` there is no new one, and the old one shows all of the
    /// machine's. Who looks into a lab's from outside is nobody there.
    pub fn are_the_labs(&self) -> bool {
        let own = fs::read_link(self.0.join("self"));
        own.map_or(self.0.join("1/stat").exists(), |own| own == Path::new("1"))
    }
}

/// The processes of the lab, and its driver (0), that are stopped, with their names.
pub fn stopped(processes: &Processes, driver: &Driver) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    if let Some(stat) = driver.0.as_ref().and_then(read_whole)
        && is_stopped(&stat)
    {
        let name = format!("the process that drives the load ({})", program(&stat));
        found.push((0, name));
    }
    let entries = fs::read_dir(&processes.0).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    for number in numbers.take(PROCESSES_MAX) {
        // One that has ended meanwhile is not suspended.
        let folder = processes.0.join(number.to_string());
        let stat = File::open(folder.join("stat"));
        if let Some(stat) = stat.ok().as_ref().and_then(read_whole)
            && is_stopped(&stat)
        {
            found.push((number, name(&folder, &stat)));
        }
    }
    found
}

pub fn read_whole(file: &File) -> Option<String> {
    let mut buffer = [0; STAT_BYTES_MAX];
    let length = file.read_at(&mut buffer, 0).ok()?;
    Some(String::from_utf8_lossy(&buffer[..length]).into_owned())
}

/// By a signal or by a debugger: the third field of `/proc/PID/stat` (proc(5)).
fn is_stopped(stat: &str) -> bool {
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
    state.is_some_and(|rest| rest.starts_with(['T', 't']))
}

/// The second field, which is in parentheses and may have any in it.
fn program(stat: &str) -> String {
    let inside = stat
        .split_once('(')
        .and_then(|(_, rest)| rest.rsplit_once(')'));
    printable(inside.map_or("", |(program, _)| program))
}

/// The program, and what kind of process Chromium says that it is.
fn name(folder: &Path, stat: &str) -> String {
    let mut command = vec![0; COMMAND_BYTES_MAX];
    let length = File::open(folder.join("cmdline"))
        .and_then(|file| file.read_at(&mut command, 0))
        .unwrap_or(0);
    let command = String::from_utf8_lossy(&command[..length]);
    match kind(&command) {
        Some(kind) => format!("{} ({kind})", program(stat)),
        None => program(stat),
    }
}

/// A zygote's children write their arguments anew, with spaces between.
fn kind(command: &str) -> Option<String> {
    let mut words = command.split(['\0', ' ']);
    let of = |word: &str, option: &str| word.strip_prefix(option).map(printable);
    let sub = |word| of(word, "--utility-sub-type=");
    let found = words.clone().find_map(sub);
    found.or_else(|| words.find_map(|word| of(word, "--type=")))
}

fn printable(text: &str) -> String {
    let shown = text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ');
    shown.take(NAME_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_names_are_read_whatever_a_program_calls_itself() {
        assert!(is_stopped("12 (a) R (b)) T 1 2"));
        assert!(is_stopped("12 (a) t 1 2"));
        assert!(!is_stopped("12 (a) T 1) S 1 2") && !is_stopped(""));
        assert_eq!(program("12 (a) (\u{7}b)) T 1"), "a) (b)");
    }

    #[test]
    fn chromium_says_what_kind_of_process_one_is() {
        let service = "chromium\0--type=utility\0--utility-sub-type=network.mojom.NetworkService\0";
        assert_eq!(kind(service).unwrap(), "network.mojom.NetworkService");
        assert_eq!(kind("chromium --type=renderer --x").unwrap(), "renderer");
        assert_eq!(kind("chromium\0--headless\0"), None);
    }
}
