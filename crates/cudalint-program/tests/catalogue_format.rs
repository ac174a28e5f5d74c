//! How the catalogue is written: the tests of what the build reads it with.
#![allow(dead_code, missing_docs)]

#[path = "../build/catalogue/mod.rs"]
mod catalogue;
