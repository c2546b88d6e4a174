//! Inputs and logs of a lab and its path.

pub(crate) mod lab_configuration;
pub(crate) mod path_log;
pub(crate) mod stages_json;
pub(crate) mod stages_text;
pub(crate) mod trace;

mod stages;
