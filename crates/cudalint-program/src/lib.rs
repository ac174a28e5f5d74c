//! Trees to one typed program form: the IR, the two front ends that lower into it, type layouts, and the project index
//! that joins files. It reads no file by itself: the engine hands it text.

mod apart;
pub mod api;
pub mod arch;
mod configuration;
mod constant;
mod crowd;
pub mod cuda;
mod dialect;
mod dump;
mod eval;
mod expr_types;
pub mod file_set;
pub mod frameworks;
pub mod guard;
mod ids;
pub mod includes;
mod instances;
pub mod ir;
mod kept;
pub mod layout;
pub mod load;
mod marks;
pub mod mentions;
mod name;
mod overloads;
pub mod project;
pub mod python;
mod questions;
mod resolve;
mod scope;
mod tables;
mod template_args;
pub mod types;
pub mod visit;

pub use crowd::Entry;
pub use dialect::in_words_of_hip;
pub use kept::KeptFiles;
pub use load::{Program, SourceFile, load, load_texts};
pub use name::Name;
pub use overloads::accepts;
pub use project::{DefiningFolder, Project, ProjectOptions};
pub use scope::{Evaluate, Scope};
