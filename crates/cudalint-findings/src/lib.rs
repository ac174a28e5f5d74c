//! Findings and how they are shown: the finding, its witness, fix and fingerprint, and every output format. Nothing
//! here knows how a finding came about, and nothing prints: formats return text.

mod finding;

pub use finding::*;
