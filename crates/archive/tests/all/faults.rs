//! Writing a WACZ is interrupted or fails at each of its steps: the file is complete or unchanged,
//! and the next writer removes the leftovers.
//!
//! Each case runs in its own process, this test program, which overwrites an older file and meets
//! one fault at one step.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use eyelevel_archive::write_wacz_in_steps;
use eyelevel_archive::{Exchange, Provenance, Site, SiteMetadata, Step, write_wacz};

const OF_CHILD: &str = "EYELEVEL_FAULT";
const OUT: &str = "site.wacz";
const OLD: &[u8] = b"an older file";

fn read_shipped() -> Vec<Exchange> {
    let agency = "../../python/eyelevel/sites/shipped/agency.wacz";
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(agency);
    Site::open(file).unwrap().exchanges()[..3].to_vec()
}

fn metadata(exchanges: &[Exchange]) -> SiteMetadata {
    SiteMetadata {
        title: "faults".to_owned(),
        description: String::new(),
        main_url: exchanges[0].url.clone(),
        created_at_unix_ms: 1_700_000_000_000,
        provenance: Provenance::default(),
        screenshot: None,
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn folder(of: &str) -> PathBuf {
    let name = format!("eyelevel-faults-{of}-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns a command that runs only `test` of this program in a child that meets `fault`.
fn child(launcher: &[&str], test: &str, fault: &str, folder: &Path) -> Command {
    let this = std::env::current_exe().unwrap();
    let words: Vec<&str> = [launcher, &[this.to_str().unwrap()]].concat();
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(OF_CHILD, format!("{fault} {}", folder.display()))
        .stdout(Stdio::piped());
    command
}

fn read_fault() -> Option<(String, PathBuf)> {
    let told = std::env::var(OF_CHILD).ok()?;
    let (fault, folder) = told.split_once(' ')?;
    Some((fault.to_owned(), folder.into()))
}

#[test]
fn a_killed_writer_leaves_the_old_file_or_the_new_one() {
    let exchanges = read_shipped();
    if let Some((step, folder)) = read_fault() {
        let stop = |at: Step| {
            if format!("{at:?}") == step {
                println!("\nstopped");
                std::io::stdout().flush().unwrap();
                loop {
                    std::thread::park(); // until it is killed
                }
            }
        };
        let out = folder.join(OUT);
        return write_wacz_in_steps(&out, &exchanges, &metadata(&exchanges), stop).unwrap();
    }
    let whole = folder("whole");
    write_wacz(&whole.join(OUT), &exchanges, &metadata(&exchanges)).unwrap();
    let expected = std::fs::read(whole.join(OUT)).unwrap();
    for step in Step::ALL {
        let folder = folder(&format!("kill-{step:?}"));
        std::fs::write(folder.join(OUT), OLD).unwrap();
        let test = "faults::a_killed_writer_leaves_the_old_file_or_the_new_one";
        let mut writer = child(&[], test, &format!("{step:?}"), &folder)
            .spawn()
            .unwrap();
        let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line == "stopped"));
        // While the writer lives its draft stays, whoever else writes.
        let drafts = names(&folder).len() - 1;
        write_wacz(&folder.join(OUT), &exchanges, &metadata(&exchanges)).unwrap();
        assert_eq!(names(&folder).len() - 1, drafts, "{step:?}");
        std::fs::write(folder.join(OUT), OLD).unwrap();
        writer.kill().unwrap();
        writer.wait().unwrap();
        let kept = std::fs::read(folder.join(OUT)).unwrap();
        assert_eq!(kept, OLD, "{step:?}");
        write_wacz(&folder.join(OUT), &exchanges, &metadata(&exchanges)).unwrap();
        assert_eq!(
            std::fs::read(folder.join(OUT)).unwrap(),
            expected,
            "{step:?}"
        );
        assert_eq!(names(&folder), [OUT], "{step:?}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
    std::fs::remove_dir_all(&whole).unwrap();
}

/// A small disk in the child's own mount namespace.
const ON_A_SMALL_DISK: &str = r#"mount -t tmpfs -o size=512k none "${EYELEVEL_FAULT#* }" &&
    ulimit -n 64 && exec "$0" "$@""#;

/// Makes the system refuse what follows, as long as the result lives.
fn refuse(fault: &str, folder: &Path) -> Vec<File> {
    match fault {
        "full" => {
            let mut filler = File::create(folder.join("filler")).unwrap();
            while filler.write_all(&[0; 512]).is_ok() {}
            Vec::new()
        }
        "read-only" => {
            let remounted = remount(folder, "remount,ro");
            println!("\nremounted {remounted}");
            Vec::new()
        }
        _ => std::iter::from_fn(|| File::open("/dev/null").ok()).collect(),
    }
}

fn remount(folder: &Path, options: &str) -> bool {
    let mut mount = Command::new("mount");
    mount
        .args(["-o", options])
        .arg(folder)
        .stderr(Stdio::null());
    mount.status().unwrap().success()
}

#[test]
fn a_refused_writer_leaves_the_old_file_or_the_new_one() {
    let exchanges = read_shipped();
    if let Some((told, folder)) = read_fault() {
        let (fault, wanted) = told
            .split_once('-')
            .map(|(step, fault)| (fault, step))
            .unwrap();
        let out = folder.join(OUT);
        std::fs::write(&out, OLD).unwrap();
        let mut held = Vec::new();
        let refused = write_wacz_in_steps(&out, &exchanges, &metadata(&exchanges), |at| {
            if format!("{at:?}") == wanted {
                held = refuse(fault, &folder);
            }
        });
        held.clear();
        if fault == "read-only" {
            remount(&folder, "remount,rw");
        }
        let _ = std::fs::remove_file(folder.join("filler"));
        let mut kept = Vec::new();
        File::open(&out).unwrap().read_to_end(&mut kept).unwrap();
        match refused {
            Err(_) => assert!(kept == OLD || Site::open(&out).is_ok(), "{told}"),
            Ok(()) => assert!(Site::open(&out).is_ok(), "{told}"),
        }
        println!("\nrefused {}", refused.is_err());
        write_wacz(&out, &exchanges, &metadata(&exchanges)).unwrap();
        assert!(Site::open(&out).unwrap().verify().is_ok());
        return assert_eq!(names(&folder), [OUT], "{told}");
    }
    let allowed = Command::new("unshare").args(["-rm", "true"]).status();
    if !allowed.is_ok_and(|status| status.success()) {
        return println!("skipped: no mount namespace can be made here");
    }
    let mut refused = Vec::new();
    for fault in ["full", "read-only", "descriptors"] {
        for step in Step::ALL {
            let folder = folder(&format!("{fault}-{step:?}"));
            let test = "faults::a_refused_writer_leaves_the_old_file_or_the_new_one";
            let launcher = ["unshare", "-rm", "sh", "-c", ON_A_SMALL_DISK];
            let ended = child(&launcher, test, &format!("{step:?}-{fault}"), &folder)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&ended.stdout);
            assert!(ended.status.success(), "{fault} {step:?}: {said}");
            if said.contains("refused true") {
                refused.push(format!("{fault} {step:?}"));
            }
            std::fs::remove_dir_all(&folder).unwrap();
        }
    }
    // The kernel does not remount a disk read-only while a file is open for writing, and a renamed
    // file is complete. Without descriptors the folder cannot be synced, which is an error.
    let expected = [
        "full Begun",
        "full Made",
        "read-only Begun",
        "descriptors Begun",
        "descriptors Made",
        "descriptors Written",
        "descriptors Synced",
        "descriptors Renamed",
    ];
    assert_eq!(refused, expected);
}
