//! Which kernels a tool looks at in a run that all findings share: those of its findings. The others run as fast as without it.

use super::job::Watcher;
use std::collections::HashMap;

/// Kernels by the tool that looks at them. A tool that is asked for another place than a kernel's looks at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Focus(HashMap<Watcher, Option<Vec<String>>>);

/// Tools that need not see the other kernels to judge one: memory is written by all of them, and given back by none.
const ABLE: [Watcher; 3] = [Watcher::Memcheck, Watcher::Racecheck, Watcher::Synccheck];

impl Focus {
    /// One more place that a tool is asked for: the kernel's name without what qualifies it, or none where it is no kernel's.
    pub fn add(&mut self, watcher: Watcher, kernel: Option<&str>) {
        let plain = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let entry = self.0.entry(watcher).or_insert_with(|| Some(Vec::new()));
        match (kernel.filter(plain), entry.as_mut()) {
            (Some(name), Some(known)) if !known.iter().any(|other| other == name) => known.push(name.to_owned()),
            (None, _) => *entry = None,
            _ => {}
        }
    }

    /// The kernels that a tool looks at; none for all.
    pub fn of(&self, watcher: Watcher) -> &[String] {
        let known = self.0.get(&watcher).filter(|_| ABLE.contains(&watcher));
        known.and_then(Option::as_deref).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::{Focus, Watcher};

    #[test]
    fn a_tool_looks_at_the_kernels_of_its_findings_and_at_all_where_one_is_no_kernel_s() {
        let mut focus = Focus::default();
        for name in ["fill", "scan", "fill"] {
            focus.add(Watcher::Racecheck, Some(name));
        }
        focus.add(Watcher::Memcheck, Some("fill"));
        focus.add(Watcher::Memcheck, None);
        focus.add(Watcher::Initcheck, Some("fill"));
        focus.add(Watcher::Synccheck, Some("operator()"));
        assert_eq!(focus.of(Watcher::Racecheck), ["fill", "scan"]);
        for watcher in [Watcher::Memcheck, Watcher::Initcheck, Watcher::Synccheck, Watcher::Leakcheck] {
            assert!(focus.of(watcher).is_empty(), "{watcher:?}");
        }
    }
}
