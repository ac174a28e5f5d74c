//! A launch of the first kernel of a text.

use cudalint_kernel::figures::Figures;
use cudalint_kernel::report::{EventKind, OpenCondition, OpenKind, RaceScope, RaceValues, Reach, Thread};
use cudalint_kernel::{
    Argument, Budget, Buffer, Contents, ExecutionReport, LaunchInput, Values, execute, execute_assuming, figures,
    index_ranges, lower, reach,
};
use cudalint_program::types::TypeEnv;
use cudalint_program::{ProjectOptions, load_texts};

/// A kernel's text with what it is launched with.
pub struct Case {
    text: String,
    pub launch: LaunchInput,
    pub budget: Budget,
    assuming: bool,
}

/// One kernel in one block of 256 threads, without arguments.
pub fn kernel(text: &str) -> Case {
    let launch = LaunchInput {
        grid: [1, 1, 1],
        block: [256, 1, 1],
        dynamic_shared: Some(0),
        cooperative: Some(false),
        constants: Vec::new(),
        reads: Vec::new(),
        arguments: Vec::new(),
        buffers: Vec::new(),
    };
    Case { text: text.to_owned(), launch, budget: Budget::default(), assuming: false }
}

impl Case {
    pub fn grid(mut self, blocks: u32) -> Self {
        self.launch.grid = [blocks, 1, 1];
        self
    }

    pub fn grid2(mut self, x: u32, y: u32) -> Self {
        self.launch.grid = [x, y, 1];
        self
    }

    pub fn block(mut self, threads: u32) -> Self {
        self.launch.block = [threads, 1, 1];
        self
    }

    pub fn block2(mut self, x: u32, y: u32) -> Self {
        self.launch.block = [x, y, 1];
        self
    }

    pub fn dynamic(mut self, bytes: u64) -> Self {
        self.launch.dynamic_shared = Some(bytes);
        self
    }

    pub fn int(mut self, value: i64) -> Self {
        self.launch.arguments.push(Argument::Int(value));
        self
    }

    pub fn unknown(mut self) -> Self {
        self.launch.arguments.push(Argument::Unknown);
        self
    }

    /// A pointer to the start of a buffer of so many bytes, of which nothing is known.
    pub fn buffer(self, bytes: u64) -> Self {
        self.holding(bytes, Contents::Unknown)
    }

    pub fn holding(mut self, bytes: u64, contents: Contents) -> Self {
        self.launch.arguments.push(Argument::Pointer { buffer: self.launch.buffers.len(), offset: 0 });
        self.launch.buffers.push(Buffer { bytes: Some(bytes), contents, align: 256, field: String::new() });
        self
    }

    /// Another text in the kernel.
    pub fn launch_text(mut self, from: &str, to: &str) -> Self {
        self.text = self.text.replace(from, to);
        self
    }

    /// Accesses to shared memory at places that nobody knows.
    pub fn unplaced(&self) -> Vec<&str> {
        let text = |site: &cudalint_kernel::report::Site| &self.text[site.span.start as usize..site.span.end as usize];
        self.run().coverage.unplaced.iter().map(text).collect()
    }

    /// With an answer to the first condition that nobody knows.
    pub fn assuming(mut self) -> Self {
        self.assuming = true;
        self
    }

    /// Such conditions, in short words.
    pub fn open(&self) -> Vec<String> {
        let open = &self.run().coverage.open;
        let text = |site: cudalint_kernel::report::Site| &self.text[site.span.start as usize..site.span.end as usize];
        let kind = |open: &OpenCondition| match open.kind {
            OpenKind::Common => "if",
            OpenKind::Rounds => "loop",
            OpenKind::OfThreads => "threads",
        };
        open.iter()
            .map(|it| format!("{} {} {}", text(it.site).split_whitespace().collect::<String>(), kind(it), it.holds))
            .collect()
    }

    pub fn run(&self) -> ExecutionReport {
        self.run_or_damage().0
    }

    /// The values of its subscripts, as `a[i] 0…255 of 256`; a dash where they are not known.
    pub fn indices(&self) -> Vec<String> {
        let program = load_texts(&[("a.cu", &self.text)], &ProjectOptions::default()).unwrap();
        let (module, kernel) = program.project.kernels().next().unwrap();
        let code = lower(&program.project, module, kernel, &TypeEnv::default()).unwrap();
        index_ranges(&code, &self.launch, &self.budget)
            .iter()
            .map(|range| {
                let text = &self.text[range.site.span.start as usize..range.site.span.end as usize];
                match range.values {
                    None => format!("{text} -"),
                    Some(Values { least, most, of: None }) => format!("{text} {least}…{most}"),
                    Some(Values { least, most, of: Some(of) }) => format!("{text} {least}…{most} of {of}"),
                }
            })
            .collect()
    }

    /// What its requests and barriers cost.
    pub fn figures(&self) -> Figures {
        let program = load_texts(&[("a.cu", &self.text)], &ProjectOptions::default()).unwrap();
        let (module, kernel) = program.project.kernels().next().unwrap();
        let code = lower(&program.project, module, kernel, &TypeEnv::default()).unwrap();
        figures(&code, &self.launch, &self.budget)
    }

    /// Whether the parser lost a part of the text.
    pub fn is_damaged(&self) -> bool {
        self.run_or_damage().1
    }

    fn run_or_damage(&self) -> (ExecutionReport, bool) {
        let text = &self.text;
        let program = load_texts(&[("a.cu", text)], &ProjectOptions::default()).unwrap();
        let (project, damaged) = (program.project, program.files[0].damaged);
        let Some((module, kernel)) = project.kernels().next() else { return (ExecutionReport::default(), damaged) };
        let Some(code) = lower(&project, module, kernel, &TypeEnv::default()) else {
            return (ExecutionReport::default(), damaged);
        };
        let report = execute(&code, &self.launch, &self.budget);
        let mut report = match report.coverage.open.first() {
            Some(open) if self.assuming => execute_assuming(&code, &self.launch, &self.budget, &[*open]),
            _ => report,
        };
        for event in &mut report.events {
            event.reach = reach(&code, event);
        }
        (report, damaged)
    }

    /// What the events are, in short words.
    pub fn seen(&self) -> Vec<String> {
        let text = &self.text;
        let at = |site: cudalint_kernel::report::Site| {
            text[site.span.start as usize..site.span.end as usize].split_whitespace().collect::<String>()
        };
        let thread = |t: Thread| {
            let [x, y, _] = t.thread;
            let block = t.block[0] + t.block[1] * 100;
            if y == 0 { format!("{block}.{x}") } else { format!("{block}.{x},{y}") }
        };
        self.run()
            .events
            .iter()
            .map(|event| (event, if event.reach == Reach::Nowhere { "idle " } else { "" }))
            .map(|(event, idle)| {
                idle.to_owned()
                    + &match &event.kind {
                        EventKind::OutOfBounds { access, plain_index, wrapped, .. } => format!(
                            "outside {} at {} by {} x{}{}{}",
                            at(access.site),
                            access.offset,
                            thread(access.thread),
                            event.count,
                            if *plain_index { " plain" } else { "" },
                            wrapped.map(|w| format!(" wrapped {}", at(w))).unwrap_or_default(),
                        ),
                        EventKind::Misaligned { access, align, .. } => {
                            format!("misaligned {} at {} to {align}", at(access.site), access.offset)
                        }
                        EventKind::Race { first, second, scope, values, across, barrier_between, .. } => {
                            let scope = match scope {
                                RaceScope::Warp => "warp",
                                RaceScope::Block => "block",
                                RaceScope::Grid => "grid",
                            };
                            let values = match values {
                                RaceValues::Same => " same",
                                RaceValues::Differ => " differ",
                                RaceValues::Unknown => "",
                            };
                            format!(
                                "race {scope}{values} {:?} {} / {:?} {}{}{}",
                                first.kind,
                                at(first.site),
                                second.kind,
                                at(second.site),
                                if across.is_some() { " across" } else { "" },
                                if *barrier_between { " between" } else { "" },
                            )
                        }
                        EventKind::DivergentBarrier { waits, absent, goes_on, condition, same_warp, .. } => format!(
                            "divergent {} not {} if {} goes {}{}",
                            thread(*waits),
                            thread(*absent),
                            at(*condition),
                            goes_on.map(at).unwrap_or_default(),
                            if *same_warp { " one warp" } else { "" },
                        ),
                        EventKind::ExitBeforeBarrier { exit, leaves, waits, unwritten, .. } => format!(
                            "exit {} of {} waits {}{}",
                            at(*exit),
                            thread(*leaves),
                            thread(*waits),
                            unwritten.as_ref().map(|a| format!(" unwritten {}", at(a.site))).unwrap_or_default()
                        ),
                        EventKind::WarpMask { mask, by, fault, .. } => {
                            format!("mask {mask:x} by {} {fault:?}", thread(*by))
                        }
                        EventKind::UninitializedRead { access, partly, .. } => format!(
                            "unwritten {:?} {} at {}{}",
                            access.kind,
                            at(access.site),
                            access.offset,
                            if *partly { " partly" } else { "" }
                        ),
                        EventKind::ConstantWritten { access, .. } => format!("constant {}", at(access.site)),
                        EventKind::GridSyncWithoutCooperation { .. } => "grid sync".to_owned(),
                        EventKind::CrowdedUpdate { access, threads, elements, condition, .. } => format!(
                            "crowd {} {threads} on {elements}{}",
                            at(access.site),
                            condition.map(|c| format!(" past {}", at(c))).unwrap_or_default()
                        ),
                        EventKind::NegativeIndex { site, index, .. } => format!("negative {} is {index}", at(*site)),
                    }
            })
            .collect()
    }

    #[track_caller]
    pub fn sees(self, expected: &[&str]) {
        assert_eq!(self.seen(), expected, "{}\n{:?}", self.text, self.run().coverage);
    }

    #[track_caller]
    pub fn clean(self) {
        self.sees(&[]);
    }

    /// Clean, and nothing of it was given up.
    #[track_caller]
    pub fn clean_and_complete(self) {
        let coverage = self.run().coverage;
        assert!(coverage.complete && coverage.known == coverage.accesses && coverage.accesses > 0, "{coverage:?}");
        self.clean();
    }
}
