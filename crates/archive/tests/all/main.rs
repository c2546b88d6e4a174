//! The crate's integration tests, in one program because each further one is linked separately.

mod cleartext;
mod codings;
mod damage;
mod faults;
mod golden;
mod har;
mod har_bodies;
mod har_members;
mod hostile;
mod import;
mod mahimahi_of_2014;
mod one_exchange;
mod one_url;
mod recordings;
mod records;
mod round_trip;
mod secure;
mod start;
mod support;
mod whole;
mod wpr;
