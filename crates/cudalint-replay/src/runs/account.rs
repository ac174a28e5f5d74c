//! Puts together what each kernel was checked for and how.

use super::accounts::{AccessAccount, Blindness, IndexAccount, KernelAccount, LaunchAccount};
use super::binding::Binding;
use super::collect::{ModuleLaunches, Seen};
use super::execute::{LEAST_OPERATIONS, Module, OPERATIONS_PER_BYTE, Outcome};
use super::origin;
use super::{Basis, KernelRun};
use crate::facts::Site;
use cudalint_kernel::readings::absence::absence;
use cudalint_kernel::readings::blind::{self, Why};
use cudalint_kernel::{Budget, Code, index_ranges, unknown_indices};
use cudalint_program::ir::FunctionId;

/// Most causes that are told of one kernel.
const MAX_CAUSES: usize = 24;

/// What an execution could not follow, for who reads it.
fn words(cause: &'static str) -> &'static str {
    match cause {
        "long loop" => "a loop was not followed to its last round",
        "budget spent" => "the budget of one execution was spent",
        "calls too deep" => "calls were not followed to their depth",
        "call out of sight" => "a function is called that is out of sight",
        other => other,
    }
}

impl Module<'_> {
    pub(super) fn accounts(&mut self, launches: &ModuleLaunches<'_>) -> Vec<KernelAccount> {
        let bytes = self.project.source(self.id).len() as u64;
        // What executing each launch once more may cost.
        let mut left = LEAST_OPERATIONS.max(bytes.saturating_mul(OPERATIONS_PER_BYTE));
        launches.kernels.iter().filter_map(|(kernel, seen)| self.account(*kernel, seen, &mut left)).collect()
    }

    fn account(&mut self, kernel: FunctionId, seen: &[Seen<'_>], left: &mut u64) -> Option<KernelAccount> {
        let function = self.project.function_at(self.id, kernel)?;
        let runs: Vec<KernelRun> = self.runs.get(&kernel).into_iter().flatten().map(|(_, run)| run.clone()).collect();
        let binding = match (self.runs.get(&kernel).and_then(|all| all.first()), seen.first()) {
            (Some((binding, _)), _) => binding.clone(),
            (None, Some(seen)) => Binding::of(seen.fact),
            (None, None) => self.instance(kernel, function),
        };
        let fits = function.python.is_some() == binding.python.is_some();
        let code = if fits { self.code(kernel, &binding) } else { None };
        let site = Site { module: self.id, span: function.name_span };
        let mut accesses: Vec<AccessAccount> = code
            .iter()
            .flat_map(|code| blind::accesses(code))
            .map(|site| AccessAccount { site, known: None })
            .collect();
        let mut causes: Vec<Blindness> = Vec::new();
        for (place, known) in runs.iter().flat_map(|run| &run.report.coverage.places) {
            match accesses.iter_mut().find(|access| access.site == *place) {
                Some(access) => access.known = Some(access.known == Some(true) || *known),
                None => accesses.push(AccessAccount { site: *place, known: Some(*known) }),
            }
        }
        accesses.sort_unstable_by_key(|access| access.site);
        if let Some(code) = &code {
            for access in accesses.iter().filter(|access| access.known == Some(false)) {
                self.blindness(code, access.site, &runs, seen, &mut causes);
            }
        } else {
            causes.push(Blindness { site, cause: "the kernel is not understood".to_owned() });
        }
        for run in &runs {
            for (cause, _) in &run.report.coverage.causes {
                if !matches!(*cause, "index not known" | "pointer not known") {
                    causes.push(Blindness { site, cause: words(cause).to_owned() });
                }
            }
        }
        let mut kept: Vec<Blindness> = Vec::new();
        for cause in causes {
            if !kept.contains(&cause) && kept.len() < MAX_CAUSES {
                kept.push(cause);
            }
        }
        let mut blocks: Vec<[u32; 3]> = Vec::new();
        for run in runs.iter().filter(|run| run.launch.is_some()) {
            if !blocks.contains(&run.block) {
                blocks.push(run.block);
            }
        }
        Some(KernelAccount {
            kernel,
            name: runs.first().map_or_else(|| function.name.to_string(), |run| run.name.clone()),
            site,
            launches: self.launches_of(seen),
            basis: runs.iter().map(|run| run.basis).max(),
            accesses,
            indices: self.indices(kernel, left),
            causes: kept,
            absence: code.map(|code| absence(&code, &blocks)).unwrap_or_default(),
        })
    }

    /// What each launch that rests on facts alone shows of subscripts.
    fn indices(&mut self, kernel: FunctionId, left: &mut u64) -> Vec<IndexAccount> {
        let runs = self.runs.get(&kernel).cloned().unwrap_or_default();
        let mut all = Vec::new();
        for (binding, run) in runs.iter().filter(|(_, run)| run.basis == Basis::Facts && run.launch.is_some()) {
            let Some(code) = self.code(kernel, binding) else { continue };
            let cost = run.report.coverage.operations;
            let mut launches: Vec<Site> = run.launched.iter().map(|(site, _)| *site).collect();
            launches.sort_unstable();
            launches.dedup();
            // Values of several inputs that conditions on the way ask for may never come together.
            let sure = run.assumptions.is_none() && run.decided <= 1;
            let followed = sure && run.report.coverage.complete && *left >= cost;
            let ranges = if followed {
                *left -= cost;
                index_ranges(&code, &run.input, &Budget::default())
            } else {
                unknown_indices(&code)
            };
            let ranges = ranges.into_iter().filter(|range| self.is_between_brackets(range.site, range.index));
            all.extend(ranges.map(|range| IndexAccount {
                site: range.site,
                launches: launches.clone(),
                grid: run.grid,
                block: run.block,
                values: range.values,
            }));
        }
        all.sort_by_key(|index| index.site);
        all
    }

    /// Whether the source has an index as the last thing between brackets, alone: `p + i` and a macro's arguments are no subscripts,
    /// and of `a[i, j]` it would not be told which is meant.
    fn is_between_brackets(&self, site: Site, index: Site) -> bool {
        let text = self.project.text(site.module, site.span);
        let from = (index.span.start - site.span.start) as usize;
        let to = (index.span.end - site.span.start) as usize;
        let (Some(before), Some(after)) = (text.get(..from), text.get(to..)) else { return false };
        // Of a member the place may be that of the whole.
        let is_rest = |c: char| c.is_alphanumeric() || c.is_whitespace() || matches!(c, '_' | '.' | ')');
        after.strip_suffix(']').is_some_and(|rest| rest.chars().all(is_rest))
            && before.rsplit_once('[').is_some_and(|(_, inside)| !inside.contains([',', ']']))
    }

    fn launches_of(&self, seen: &[Seen<'_>]) -> Vec<LaunchAccount> {
        let mut all: Vec<LaunchAccount> = Vec::new();
        for one in seen {
            let site = one.event.site;
            if all.iter().any(|known| known.site == site) {
                continue;
            }
            let outcome = self.outcome(site);
            let basis = match outcome {
                Outcome::Facts => Some(Basis::Facts),
                Outcome::FirstBlock => Some(Basis::FirstBlock),
                Outcome::Assumed => Some(Basis::Assumption),
                Outcome::Guessed => Some(Basis::GuessedBlock),
                Outcome::Not(_) => None,
            };
            let cause = match outcome {
                Outcome::Facts => String::new(),
                Outcome::Not(cause) if !matches!(cause, "block not known" | "grid not known") => cause.to_owned(),
                _ => origin::of_launch(self.project, one.event, one.fact).unwrap_or_else(|| match outcome {
                    Outcome::Not(cause) => cause.to_owned(),
                    _ => String::new(),
                }),
            };
            all.push(LaunchAccount { site, basis, cause });
        }
        all.sort_by_key(|launch| launch.site);
        all
    }

    /// Why the address of an access is not known, in words.
    fn blindness(&self, code: &Code, access: Site, runs: &[KernelRun], seen: &[Seen<'_>], causes: &mut Vec<Blindness>) {
        let text = |site: Site| origin::short(self.project.text(site.module, site.span));
        let before = causes.len();
        let grid_known = runs.iter().any(|run| run.grid_known);
        let cut = |cause: &str| runs.iter().any(|run| run.report.coverage.causes.iter().any(|(it, _)| *it == cause));
        let reasons = blind::why(code, access);
        for reason in &reasons {
            let (site, cause) = match reason {
                Why::Memory(site) => (*site, format!("`{}` is read from memory", text(*site))),
                Why::Call(site) => (*site, format!("`{}` calls a function that is out of sight", text(*site))),
                Why::NotUnderstood(site) => (*site, format!("`{}` is not understood", text(*site))),
                Why::Atomic(site) => (*site, format!("`{}` returns what other threads have left", text(*site))),
                Why::OtherThread(site) => (*site, format!("`{}` comes from other threads", text(*site))),
                Why::Grid(_) if grid_known => continue,
                Why::Grid(site) => (*site, format!("`{}` is not known", text(*site))),
                // Said where nothing else is found.
                Why::Choice(_) => continue,
                Why::Parameter(number) => {
                    let Some(parameter) =
                        code.functions.first().and_then(|kernel| kernel.variables.raw.get(*number as usize))
                    else {
                        continue;
                    };
                    let name = &parameter.name;
                    let known = runs.iter().any(|run| {
                        run.bindings.iter().any(|(bound, _)| bound == name)
                            || run.buffers.iter().any(|buffer| buffer.parameter == *name)
                    });
                    if known || name.is_empty() {
                        continue;
                    }
                    let cause = match seen.first() {
                        Some(one) => origin::of_argument(self.project, one.event, one.fact, *number as usize)
                            .unwrap_or_else(|| format!("what parameter `{name}` is given is not known")),
                        None => format!("`{name}` is a parameter, and no launch is in sight"),
                    };
                    (access, cause)
                }
            };
            causes.push(Blindness { site, cause });
        }
        if causes.len() > before {
            return;
        }
        let choices =
            reasons.iter().filter_map(|reason| if let Why::Choice(site) = reason { Some(*site) } else { None });
        for site in choices.take(1) {
            let cause = if cut("long loop") || cut("budget spent") {
                format!("`{}` changes in a loop that was not followed to its last round", text(site))
            } else {
                format!("which value `{}` has hangs on conditions that nobody knows", text(site))
            };
            causes.push(Blindness { site, cause });
        }
        if causes.len() == before {
            causes.push(Blindness { site: access, cause: format!("the address of `{}` is not known", text(access)) });
        }
    }
}
