//! All rules, by name. Derived from the folders by `cargo xtask sync`; do not edit.

use cudalint_engine::Rule;

/// Every rule, sorted by name.
pub static RULES: &[&Rule] = &[];
