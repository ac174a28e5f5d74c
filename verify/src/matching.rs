//! Evidence counts only when its kind, kernel and line match the finding.
