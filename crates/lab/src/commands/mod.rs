//! The subcommands other than the lab itself (`up.rs`) and the shell, one per file. Each prints
//! lines of JSON and returns its exit status; its arguments are declared in the same file.

pub mod archive;
pub mod bulk;
pub mod confine;
pub mod credentials;
pub mod doctor;
pub mod live;
mod live_v6;
pub mod path_check;
pub mod probe;
pub mod record;
pub mod scan;
pub mod simulate;
mod site_check;
mod site_edit;
pub mod stages;
pub mod tables;
pub mod traffic;
