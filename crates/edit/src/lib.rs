//! Declarative edits of recorded sites: exchanges in, the same exchanges with some of them changed
//! out, and how often each edit matched.
//!
//! Bodies are decoded, changed and encoded again as they were. Markup goes through a streaming
//! rewriter, so that every byte outside of an edit stays. `actions` does what each kind of edit
//! does, `finish` what follows: lines in the heads of documents, integrity hashes, policies, lengths
//! and validators. The subjects: `pattern` says which objects an edit is for, `markup`
//! rewrites documents, `css` style sheets, `charset` texts in the charset that they are in,
//! `integrity` and `policy` what browsers compare, `recode` content codings. Reading and writing
//! recordings is `eyelevel-archive`'s.

mod actions;
mod apply;
mod charset;
mod css;
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
pub use edit::{Action, Edit};
pub use error::Error;
pub use report::{ChangedObject, Matches, Report};
