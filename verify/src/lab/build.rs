//! Builds of programs. The same units with the same flags are built once a lab, also when several scenarios ask at one
//! time: the first builds, the others wait and get the same file.

use super::bench::{Bench, Phase};
use super::environment;
use super::errors::{compiler_broke, first_error};
use super::inputs;
use super::job::{Build, BuildFailure, End};
use super::libraries;
use super::process::{Task, head_of, quoted, shown};
use super::shelf::{Filled, Key, Pending, Product, plain};
use super::slots::{LOOK, lock};
use super::stand_ins::stand_ins;
use camino::{Utf8Path, Utf8PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// Bytes of a compiler's output in which errors are looked for.
const LOG: u64 = 1 << 20;
/// How often a program is tried with more flags: a compiler does not name all that is missing at once.
const MOST_TRIALS: u32 = 3;

impl Bench<'_> {
    /// Builds a program with nvcc and gives its absolute path; with flags that its refusal asks for, if the compiler refuses it as it is
    /// ([`stand_ins`]).
    ///
    /// # Errors
    /// Why there is no program.
    pub fn build(&self, build: &Build) -> Result<Utf8PathBuf, BuildFailure> {
        let mut asked = build.clone();
        let mut built = self.build_as_it_is(&asked);
        for _ in 0..MOST_TRIALS {
            let Err(BuildFailure::Refused { log, .. }) = &built else { break };
            let output = head_of(&self.lab.folder.join(log), LOG);
            let more = stand_ins(&output, &asked.flags, &self.lab.folder.join("stand_ins"));
            if more.is_empty() {
                break;
            }
            // Ahead of the probe, whose macros stand for names that a header defines.
            let added = asked.flags.len() - build.flags.len();
            asked.flags.splice(added..added, more);
            built = self.build_as_it_is(&asked);
        }
        built
    }

    /// Builds a program with no flags but its own. The same units with the same flags are built once a lab.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn build_as_it_is(&self, build: &Build) -> Result<Utf8PathBuf, BuildFailure> {
        let Some(nvcc) = &self.lab.machine.nvcc else { return Err(BuildFailure::NoCompiler) };
        let inputs = inputs::of(&self.folder, &build.units, &build.flags);
        let units: Vec<String> = build.units.iter().map(ToString::to_string).collect();
        let key = Key {
            units: inputs::placeless(&self.folder, &units),
            flags: inputs::placeless(&self.folder, &build.flags),
            inputs,
        };
        let (order, mine) = {
            let mut orders = lock(&self.lab.shelf.orders);
            match orders.get(&key) {
                Some(order) => (Arc::clone(order), false),
                None => (Arc::clone(orders.entry(key).or_default()), true),
            }
        };
        let product = if mine {
            Filled { order: &order, product: None }.with(self.compile(&nvcc.path, build))
        } else {
            self.wait_for(&order)
        };
        self.hand_out(build, product)
    }

    /// Waits for another scenario's build.
    fn wait_for(&self, order: &Pending) -> Product {
        let waiting = Instant::now();
        self.enter(Phase::Waiting);
        let mut product = lock(&order.product);
        let product = loop {
            if let Some(product) = &*product {
                break product.clone();
            }
            if self.lab.stop.requested() {
                break Product::none(BuildFailure::Interrupted);
            }
            product = order.done.wait_timeout(product, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        };
        self.count(|times| times.wait += waiting.elapsed().as_secs_f64());
        product
    }

    /// Puts a product under its own names into this scenario's folder.
    fn hand_out(&self, build: &Build, product: Product) -> Result<Utf8PathBuf, BuildFailure> {
        let (program, log) = (self.folder.join(plain(&build.label)), self.log_of(build));
        let broken = |error: std::io::Error| {
            self.lab.look_for_space(&error.to_string());
            BuildFailure::Broken(format!("{}: {error}", self.folder))
        };
        if !product.log.is_empty() {
            std::fs::write(&log, product.log.as_bytes()).map_err(broken)?;
        }
        match product.program {
            Ok(original) => {
                link(&original, &program).map_err(broken)?;
                lock(&self.ledger).products.push(program.clone());
                lock(&self.lab.shelf.originals).insert(program.clone(), original);
                Ok(program)
            }
            Err(BuildFailure::Refused { error, .. }) => {
                Err(BuildFailure::Refused { error, log: self.relative(&log).into() })
            }
            Err(failure) => {
                self.count(|times| times.interrupted |= failure == BuildFailure::Interrupted);
                Err(failure)
            }
        }
    }

    /// Calls the compiler and puts the program on the shelf.
    fn compile(&self, nvcc: &Utf8Path, build: &Build) -> Product {
        let waiting = Instant::now();
        self.enter(Phase::Waiting);
        let slot = self.lab.builders.take(&self.lab.stop);
        self.count(|times| times.wait += waiting.elapsed().as_secs_f64());
        if slot.is_none() {
            return Product::none(BuildFailure::Interrupted);
        }
        let broken = |error: std::io::Error| BuildFailure::Broken(format!("{}: {error}", self.folder));
        let temporary = match self.temporary() {
            Ok(temporary) => temporary,
            Err(error) => return Product::none(broken(error)),
        };
        let program = self.folder.join(plain(&build.label));
        // Never written over: the file of an earlier build of that name may be running.
        drop(std::fs::remove_file(&program));
        let (stdout, stderr) = (temporary.join("compiler.stdout"), temporary.join("compiler.stderr"));
        let task = Task {
            command: self.compiler_line(nvcc, build),
            folder: self.folder.clone(),
            environment: environment::of_child(&temporary, &self.lab.caches(), &[]),
            stdout: stdout.clone(),
            stderr: stderr.clone(),
            limit: self.lab.limits.build,
            device: false,
        };
        self.enter(Phase::Building);
        let done = self.lab.execute(&task, None);
        self.count(|times| times.build += done.seconds);
        let output = format!("{}{}", head_of(&stderr, LOG), head_of(&stdout, LOG));
        if done.end != End::Exit(0) {
            self.lab.look_for_space(compiler_broke(&output).unwrap_or_default());
        }
        let command = shown(&self.shortened(&task.command));
        let log = format!("$ cd {}\n$ {command}\n{output}", quoted(self.folder.as_str())).into();
        let program = match done.end {
            End::Exit(0) if program.is_file() => self.shelve(&program).map_err(broken),
            End::Exit(0) => Err(BuildFailure::Broken("the compiler says nothing and leaves no program".to_owned())),
            End::Exit(status) => Err(match compiler_broke(&output) {
                Some(line) => BuildFailure::Broken(format!("the compiler broke: {line}")),
                None => {
                    let silent = || format!("it ends with status {status} and names no error");
                    BuildFailure::Refused {
                        error: first_error(&output).unwrap_or_else(silent),
                        log: Utf8PathBuf::new(),
                    }
                }
            }),
            End::Signal(signal) => Err(BuildFailure::Broken(format!("the compiler was ended by signal {signal}"))),
            End::TimedOut => Err(BuildFailure::TimedOut),
            End::OverLimit(problem) => Err(BuildFailure::Broken(format!("the compiler {problem}"))),
            End::NotStarted(reason) => Err(BuildFailure::Broken(reason)),
            End::Interrupted | End::Enough => Err(BuildFailure::Interrupted),
        };
        Product { program, log }
    }

    /// Keeps a program where no later build writes.
    fn shelve(&self, program: &Utf8Path) -> std::io::Result<Utf8PathBuf> {
        let folder = self.lab.folder.join("builds");
        std::fs::create_dir_all(&folder)?;
        let kept = folder.join(self.lab.shelf.count.fetch_add(1, Ordering::Relaxed).to_string());
        link(program, &kept)?;
        Ok(kept)
    }

    fn compiler_line(&self, nvcc: &Utf8Path, build: &Build) -> Vec<String> {
        let flagged = |names: &[&str]| {
            build.flags.iter().any(|flag| {
                names
                    .iter()
                    .any(|name| flag.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
            })
        };
        let mut words = vec![nvcc.to_string(), "-o".to_owned(), plain(&build.label)];
        if !flagged(&["-arch", "--gpu-architecture", "-gencode", "--generate-code", "-code", "--gpu-code"]) {
            words.push(format!("-arch=sm_{}", self.lab.machine.architecture()));
        }
        // Whole debug information has the lines too, and nvcc warns of both.
        if !flagged(&["-G", "--device-debug", "-lineinfo", "--generate-line-info"]) {
            words.push("-lineinfo".to_owned());
        }
        let folder = library_folder(nvcc);
        words.extend(folder.iter().map(|folder| format!("-L{folder}")));
        words.extend(libraries::named(&build.flags, folder.as_deref(), &self.lab.folder));
        words.extend(build.units.iter().map(ToString::to_string));
        words.extend(build.flags.iter().cloned());
        words
    }

    fn log_of(&self, build: &Build) -> Utf8PathBuf {
        self.folder.join(format!("{}.build.log", plain(&build.label)))
    }
}

/// The same file under another name: a link, else a copy.
fn link(from: &Utf8Path, to: &Utf8Path) -> std::io::Result<()> {
    drop(std::fs::remove_file(to));
    std::fs::hard_link(from, to).or_else(|_| std::fs::copy(from, to).map(drop))
}

/// The CUDA libraries' folder where nvcc does not know it: packages of Python have `lib`, nvcc's profile says `lib64`.
pub(crate) fn library_folder(nvcc: &Utf8Path) -> Option<Utf8PathBuf> {
    let toolkit = nvcc.parent()?.parent()?;
    let folder = toolkit.join("lib");
    (!toolkit.join("lib64").is_dir() && folder.join("libcudart_static.a").is_file()).then_some(folder)
}
