//! The crate's integration tests, in one program: each further one would be linked on its own.

mod cellular;
mod common;
mod delays;
mod direction;
mod disciplines;
mod facts;
mod losses;
mod models;
mod policing;
mod text;
mod trace;
mod vectors;
mod whole_paths;
