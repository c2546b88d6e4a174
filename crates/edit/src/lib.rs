//! Applies declarative edits to recorded sites and returns the edited exchanges, with the number of
//! matches of each edit.
//!
//! Bodies are decoded, changed and encoded again as they were. Markup goes through a streaming
//! rewriter, so that every byte outside an edit stays. `actions` implements each kind of edit, and
//! `finish` applies the consequences: lines in the heads of documents, integrity hashes, policies,
//! lengths and validators. `pattern` selects objects, `markup` rewrites documents, `css` style
//! sheets and `charset` texts in their own charset; `integrity` and `policy` update what browsers
//! verify, and `recode` content codings. `early_hints` finds what a page's server can name before it
//! answers. Reading and writing recordings is `eyelevel-archive`'s.

mod actions;
mod apply;
mod charset;
mod css;
mod early_hints;
mod edit;
mod error;
mod finish;
mod integrity;
mod markup;
mod nearest;
mod pattern;
mod policy;
mod recode;
mod report;
mod workspace;

pub use apply::{Edited, apply};
pub use early_hints::{EarlyHints, LeftOut, find_early_hints};
pub use edit::{Action, Edit};
pub use error::Error;
pub use report::{ChangedObject, Matches, Report};
