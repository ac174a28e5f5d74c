//! Launches in Python that cannot work: CUDA C++ spelling, wrong configurations, plain functions used as kernels.

use super::fields::{Field, field};
use super::resolve::{Callable, decorators_of};
use super::scope::File;
use super::value::{Kind, elements, positional};
use super::{ChevronLaunch, Dimensions, Framework, LaunchProblem, MalformedLaunch, PythonNames, UndecoratedKernel};
use crate::api::ApiId;
use crate::api::effects::Effect;
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, PythonChevron, Span, named_children};
use rustc_hash::{FxHashMap, FxHashSet};

/// A launch under examination.
struct LaunchReader<'f, 't> {
    file: &'f File<'t>,
    scope: usize,
    call: Node<'t>,
    kernel: Node<'t>,
    framework: Framework,
    definition: Span,
}

/// Says of each launch in CUDA C++ spelling what its kernel is.
pub(super) fn chevrons(file: &File<'_>, found: Vec<PythonChevron>, names: &mut PythonNames) {
    if found.is_empty() {
        return;
    }
    let mut imported: Vec<Framework> = Vec::new();
    for path in names.imports.values() {
        let framework = if path.starts_with("numba") {
            Framework::Numba
        } else if path.starts_with("cupyx.jit") {
            Framework::CupyJit
        } else if path.starts_with("cupy") {
            Framework::CupyRaw
        } else {
            Framework::PyCuda
        };
        if !imported.contains(&framework) {
            imported.push(framework);
        }
    }
    imported.sort_by_key(|framework| *framework as u8);
    // The first call that begins at a place is the outermost one there.
    let mut starts: FxHashMap<usize, (Node<'_>, usize)> = FxHashMap::default();
    for (call, scope) in &file.calls {
        starts.entry(call.start_byte()).or_insert((*call, *scope));
    }
    for parts in found {
        // The mask made it a subscripted call, which begins with the kernel's name.
        let launch = starts.get(&(parts.kernel.start as usize));
        let kernel = launch.and_then(|(call, scope)| {
            let subscript = field(*call, Field::Function)?;
            let value = field(subscript, Field::Value)?;
            Some((file.callable(*scope, value)?, value))
        });
        let framework = match kernel {
            Some((Callable::Kernel(framework, _), _)) => Some(framework),
            _ => None,
        };
        if let Some((Callable::Plain(definition), value)) = kernel {
            undecorated(file, value, definition, parts.span(), names);
        }
        let function = launch.map_or(String::new(), |(_, scope)| file.function_name(*scope));
        names.chevrons.push(ChevronLaunch { parts, framework, imported: imported.clone(), function });
    }
}

/// Looks at every call.
pub(super) fn calls(file: &File<'_>, names: &mut PythonNames) {
    let chevrons: FxHashSet<usize> = names.chevrons.iter().map(|chevron| chevron.parts.kernel.start as usize).collect();
    for (call, scope) in &file.calls {
        let Some(function) = field(*call, Field::Function) else { continue };
        if chevrons.contains(&call.start_byte()) {
            continue;
        }
        let subscripted = python_kind(function) == PythonKind::Subscript;
        let kernel = if subscripted { field(function, Field::Value) } else { Some(function) };
        let Some(kernel) = kernel else { continue };
        let (framework, definition) = match file.callable(*scope, kernel) {
            Some(Callable::Kernel(framework, definition)) => (framework, definition),
            Some(Callable::Plain(definition))
                if subscripted && is_pair(function) && !expected_to_raise(file, *call) =>
            {
                undecorated(file, kernel, definition, Span::from(*call), names);
                continue;
            }
            _ => continue,
        };
        if in_device_code(file, *scope) || expected_to_raise(file, *call) {
            continue;
        }
        let launch = LaunchReader { file, scope: *scope, call: *call, kernel, framework, definition };
        let before = names.launches.len();
        match (framework, subscripted) {
            (Framework::Numba, true) => launch.numba(function, names),
            (Framework::Numba, false) => launch.unconfigured(names),
            (Framework::CupyJit, true) => launch.cupy_subscript(function, names),
            (Framework::CupyRaw | Framework::PyCuda, true) => {
                launch.report(Span::from(function), LaunchProblem::NotSubscriptable, names);
            }
            (Framework::CupyRaw | Framework::CupyJit, false) => launch.cupy_call(names),
            (Framework::PyCuda, false) => launch.pycuda(names),
        }
        // One launch, one finding: the first problem is the one that raises.
        names.launches.truncate(before + 1);
    }
}

/// Whether a subscript holds two or more elements, as a launch does.
fn is_pair(subscript: Node<'_>) -> bool {
    let mut cursor = subscript.walk();
    subscript
        .children_by_field_name("subscript", &mut cursor)
        .filter(|node| python_kind(*node) != PythonKind::Slice)
        .count()
        >= 2
}

fn undecorated<'t>(file: &File<'t>, kernel: Node<'t>, definition: Span, launch: Span, names: &mut PythonNames) {
    if !names.undecorated.iter().any(|known| known.span == definition) {
        let name = file.text.get(kernel.byte_range()).unwrap_or("").to_owned();
        names.undecorated.push(UndecoratedKernel { name, span: definition, launch });
    }
}

/// Whether a scope lies in a kernel, in a device function, or in a function that something unknown decorates.
fn in_device_code(file: &File<'_>, scope: usize) -> bool {
    file.enclosing_functions(scope).any(|function| match file.function(function) {
        Some(Callable::Plain(_)) => false,
        Some(_) => true,
        None => decorators_of(function).iter().any(|decorator| !host_decorator(file.text_of(*decorator))),
    })
}

/// Decorators that leave a function on the host.
fn host_decorator(text: &str) -> bool {
    let name = text.trim_start_matches('@').trim_start();
    [
        "pytest.",
        "unittest.",
        "staticmethod",
        "classmethod",
        "property",
        "functools.",
        "contextmanager",
        "skip",
        "testing.",
        "click.",
        "parameterized",
        "profile",
        "app.",
        "torch.no_grad",
        "timer",
        "timeit",
        "ray.remote",
        "override",
    ]
    .iter()
    .any(|known| name.starts_with(known))
}

/// Whether an exception is what the code around a node waits for.
fn expected_to_raise<'t>(file: &File<'t>, node: Node<'t>) -> bool {
    let mut child = node;
    for current in file.ancestors(node) {
        match python_kind(current) {
            PythonKind::WithStatement => {
                let header = child.start_byte().min(current.end_byte());
                let head = file.text.get(current.start_byte()..header).unwrap_or("");
                if head.contains("aises") {
                    return true;
                }
            }
            PythonKind::TryStatement if field(current, Field::Body) == Some(child) => {
                let mut cursor = current.walk();
                let caught = current.children(&mut cursor).any(|clause| {
                    python_kind(clause) == PythonKind::ExceptClause && {
                        let text = file.text.get(clause.byte_range()).unwrap_or("");
                        let head = text.split(':').next().unwrap_or("");
                        head.contains("TypeError") || head.contains("ValueError") || head.contains("AttributeError")
                    }
                });
                if caught {
                    return true;
                }
            }
            _ => {}
        }
        child = current;
    }
    false
}

impl<'t> LaunchReader<'_, 't> {
    fn report(&self, span: Span, problem: LaunchProblem, names: &mut PythonNames) {
        self.report_if(span, problem, None, names);
    }

    fn report_if(&self, span: Span, problem: LaunchProblem, assumption: Option<String>, names: &mut PythonNames) {
        names.launches.push(MalformedLaunch {
            kernel: self.file.text_of(self.kernel).to_owned(),
            framework: self.framework,
            definition: self.definition,
            launch: Span::from(self.call),
            span,
            problem,
            assumption,
            function: self.file.function_name(self.scope),
        });
    }

    /// The elements between the brackets of a subscript; `None` when that is not sure, `Err` for one value that is no
    /// tuple.
    fn configuration(&self, subscript: Node<'t>) -> Option<Result<Vec<Node<'t>>, Node<'t>>> {
        let mut cursor = subscript.walk();
        let written: Vec<_> = subscript.children_by_field_name("subscript", &mut cursor).collect();
        if written.iter().any(|node| matches!(python_kind(*node), PythonKind::Slice | PythonKind::ListSplat)) {
            return None;
        }
        let value_end = field(subscript, Field::Value)?.end_byte();
        let mut cursor = subscript.walk();
        let comma = subscript.children(&mut cursor).any(|child| child.kind() == "," && child.start_byte() >= value_end);
        match written.as_slice() {
            [one] if !comma => match self.file.kind_of(self.scope, *one) {
                Kind::Tuple(Some(elements)) => Some(Ok(elements)),
                Kind::Int | Kind::Float => Some(Err(*one)),
                _ => None,
            },
            _ => Some(Ok(written)),
        }
    }

    fn numba(&self, subscript: Node<'t>, names: &mut PythonNames) {
        let Some(configuration) = self.configuration(subscript) else { return };
        let Ok(elements) = configuration else {
            return self.report(Span::from(self.call), LaunchProblem::NotATuple, names);
        };
        if !(2..=4).contains(&elements.len()) {
            return self.report(Span::from(self.call), LaunchProblem::ElementCount(elements.len()), names);
        }
        self.dimensions(&elements, names);
    }

    fn cupy_subscript(&self, subscript: Node<'t>, names: &mut PythonNames) {
        let Some(configuration) = self.configuration(subscript) else { return };
        let Ok(elements) = configuration else {
            return self.report(Span::from(self.call), LaunchProblem::NotATuple, names);
        };
        if elements.len() != 2 {
            return self.report(Span::from(self.call), LaunchProblem::ElementCount(elements.len()), names);
        }
        self.dimensions(&elements, names);
    }

    /// The grid and the block: numbers or tuples of numbers.
    fn dimensions(&self, elements: &[Node<'t>], names: &mut PythonNames) {
        for (which, node) in [Dimensions::Grid, Dimensions::Block].into_iter().zip(elements) {
            match self.file.kind_of(self.scope, *node) {
                Kind::Float => self.report(Span::from(*node), LaunchProblem::FloatDimension(which), names),
                Kind::Tuple(Some(axes)) => self.axes(which, *node, &axes, names),
                _ => {}
            }
        }
    }

    fn axes(&self, which: Dimensions, node: Node<'t>, axes: &[Node<'t>], names: &mut PythonNames) {
        // CuPy cuts a fourth dimension off in silence, and only of the first is it sure that it refuses a float.
        let numba = self.framework == Framework::Numba;
        if axes.len() > 3 && numba {
            self.report(Span::from(node), LaunchProblem::TooManyDimensions(which, axes.len()), names);
        }
        for axis in axes.iter().take(if numba { axes.len() } else { 1 }) {
            if self.file.kind_of(self.scope, *axis) == Kind::Float {
                // A tuple that was made elsewhere is wrong there, but it is the launch that raises.
                let inside = node.start_byte() <= axis.start_byte() && axis.end_byte() <= node.end_byte();
                let span = if inside { Span::from(*axis) } else { Span::from(node) };
                self.report(span, LaunchProblem::FloatDimension(which), names);
            }
        }
    }

    /// `k(…)` of a Numba kernel.
    fn unconfigured(&self, names: &mut PythonNames) {
        let mut functions = self.file.enclosing_functions(self.scope);
        let assumption = match functions.next() {
            None => None,
            Some(function) => {
                let name = field(function, Field::Name).map_or("", |name| self.file.text_of(name));
                let text = self.file.text_of(function);
                let indexes = ["threadIdx", "blockIdx"].iter().any(|word| text.contains(word));
                if indexes
                    || self.calls_within(function, |api| api.device_op().is_some())
                    || self.jitted_elsewhere(name)
                {
                    return;
                }
                let on_host =
                    |api: ApiId| api.allocates() || api.effects.iter().any(|it| matches!(it, Effect::Waits(_)));
                let methods = ["copy_to_host(", "synchronize(", "print("].iter().any(|word| text.contains(word));
                if methods || self.calls_within(function, on_host) {
                    None
                } else {
                    Some(format!("`{name}` runs on the host: nothing compiles it for the device"))
                }
            }
        };
        self.report_if(Span::from(self.call), LaunchProblem::Unconfigured, assumption, names);
    }

    /// Whether a function calls something of a package that is of a kind.
    fn calls_within(&self, function: Node<'t>, kind: impl Fn(ApiId) -> bool) -> bool {
        let within = function.byte_range();
        let calls = self.file.calls.iter().filter(|(call, _)| within.contains(&call.start_byte()));
        calls.into_iter().any(|(call, scope)| {
            let callee = field(*call, Field::Function).and_then(|callee| self.file.path(*scope, callee));
            callee.and_then(|path| ApiId::of_python(&path)).is_some_and(&kind)
        })
    }

    /// Whether a function is handed to some call, which may compile it.
    fn jitted_elsewhere(&self, name: &str) -> bool {
        self.file
            .calls
            .iter()
            .any(|(call, _)| positional(*call).iter().any(|argument| self.file.text_of(*argument) == name))
    }

    /// `k(grid, block, args)` of a kernel of `cupy`.
    fn cupy_call(&self, names: &mut PythonNames) {
        let Some(arguments) = field(self.call, Field::Arguments) else { return };
        let Some(all) = elements(arguments) else { return };
        if all.iter().any(|argument| python_kind(*argument) == PythonKind::DictionarySplat) {
            return;
        }
        let mut given: [Option<Node<'t>>; 3] = [None; 3];
        let mut count = 0;
        for argument in all {
            if python_kind(argument) == PythonKind::KeywordArgument {
                let name = field(argument, Field::Name).map_or("", |name| self.file.text_of(name));
                let slot = ["grid", "block", "args"].iter().position(|known| *known == name);
                if let Some(slot) = slot.and_then(|slot| given.get_mut(slot)) {
                    *slot = field(argument, Field::Value);
                }
            } else {
                if let Some(slot) = given.get_mut(count) {
                    *slot = Some(argument);
                }
                count += 1;
            }
        }
        let most = if self.framework == Framework::CupyRaw { 3 } else { 5 };
        let [Some(grid), Some(block), Some(args)] = given else {
            return self.report(Span::from(self.call), LaunchProblem::ArgumentCount(count), names);
        };
        if count > most {
            return self.report(Span::from(self.call), LaunchProblem::ArgumentCount(count), names);
        }
        for (which, node) in [(Dimensions::Grid, grid), (Dimensions::Block, block)] {
            match self.file.kind_of(self.scope, node) {
                Kind::Int | Kind::Float | Kind::List | Kind::Array | Kind::Pointer(_) => {
                    self.report(Span::from(node), LaunchProblem::DimensionsNotTuple(which), names);
                }
                Kind::Tuple(Some(axes)) => self.axes(which, node, &axes, names),
                _ => {}
            }
        }
        if matches!(self.file.kind_of(self.scope, args), Kind::Int | Kind::Float | Kind::Array | Kind::Pointer(_)) {
            self.report(Span::from(args), LaunchProblem::ArgumentsNotTuple, names);
        }
    }

    /// `f(args, block=…, grid=…)` of a function of `pycuda`.
    fn pycuda(&self, names: &mut PythonNames) {
        let Some(arguments) = field(self.call, Field::Arguments) else { return };
        let mut block = None;
        for argument in named_children(arguments) {
            match python_kind(argument) {
                PythonKind::DictionarySplat => return,
                PythonKind::KeywordArgument
                    if field(argument, Field::Name).is_some_and(|name| self.file.text_of(name) == "block") =>
                {
                    block = field(argument, Field::Value);
                }
                _ => {}
            }
        }
        match block {
            None => self.report(Span::from(self.call), LaunchProblem::MissingBlock, names),
            Some(block) => {
                if matches!(self.file.kind_of(self.scope, block), Kind::Int | Kind::Float) {
                    self.report(Span::from(block), LaunchProblem::DimensionsNotTuple(Dimensions::Block), names);
                }
            }
        }
    }
}
