//! Reports of tools, read: compute-sanitizer's XML, the probe's log, Python's tracebacks. Each reader turns text of any
//! quality into records; what cannot be read is a problem in words, never a crash.

pub mod counters;
pub mod probe_log;
pub mod sanitizer;
pub mod traceback;
