//! Makes the table of functions that the program is built with from `src/api/catalogue/*.txt`.
#![allow(clippy::print_stdout)] // That is how a build script speaks to cargo.

mod catalogue;

use std::path::Path;
use std::{env, fs, io};

fn main() -> Result<(), io::Error> {
    let of = |name: &str| env::var_os(name).ok_or_else(|| io::Error::other(format!("cargo sets no {name}")));
    let folder = Path::new(&of("CARGO_MANIFEST_DIR")?).join("src/api/catalogue");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build");
    match catalogue::table(&folder) {
        Ok(table) => fs::write(Path::new(&of("OUT_DIR")?).join("table.rs"), table),
        Err(error) => {
            // Told by cargo as the reason of the failure, by itself.
            println!("cargo::error={error}");
            Ok(())
        }
    }
}
