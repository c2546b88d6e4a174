//! What a lab and its path are told and write down.

pub(crate) mod lab_configuration;
pub(crate) mod path_log;
pub(crate) mod stages_json;
pub(crate) mod stages_text;
pub(crate) mod trace;

mod stages;
