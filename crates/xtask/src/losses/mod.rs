//! `cargo xtask losses`: declarations that the text of projects has and the program form lacks, by what may be the cause. The text is read by a
//! few lines that share nothing with the parser and the mask, so that what these lose is seen.

mod scan;
mod tokens;

use cudalint_engine::{Configuration, Engine, ModuleContext, Request};
use cudalint_program::ir::Module;
use scan::{Declared, What, declarations};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Mutex;

/// Counts of a kind of declaration.
#[derive(Default)]
struct Counts {
    all: usize,
    /// In branches of `#if` that are not the program.
    passed_over: usize,
    lost: usize,
    causes: BTreeMap<String, Vec<String>>,
}

type Tally = BTreeMap<What, Counts>;

/// Reads projects, and prints what is lost of them.
///
/// # Errors
/// When a run is impossible.
pub fn run(folders: &[PathBuf], samples: usize) -> Result<(), String> {
    let mut all = Tally::new();
    for folder in folders {
        let tally: Mutex<Tally> = Mutex::default();
        let look = |context: &ModuleContext<'_>| {
            if let Ok(mut tally) = tally.lock() {
                compare(context, &mut tally);
            }
        };
        let request =
            Request { paths: vec![folder.clone()], configuration: Configuration::Isolated, ..Request::default() };
        let outcome = Engine::new(cudalint_rules::RULES).look(&request, &look).map_err(|error| error.to_string())?;
        let tally = tally.into_inner().unwrap_or_default();
        let (found, lost) = tally
            .values()
            .fold((0, 0), |(all, lost), counts| (all + counts.all - counts.passed_over, lost + counts.lost));
        println!(
            "{}: {found} declarations, {lost} not in the program form, {} incomplete",
            folder.display(),
            outcome.incomplete().count()
        );
        for (what, counts) in tally {
            let own = all.entry(what).or_default();
            own.all += counts.all;
            own.passed_over += counts.passed_over;
            own.lost += counts.lost;
            for (cause, places) in counts.causes {
                own.causes.entry(cause).or_default().extend(places);
            }
        }
    }
    for (what, counts) in &all {
        println!(
            "{}: {}, of which {} in branches that are not the program; {} lost",
            what.words(),
            counts.all,
            counts.passed_over,
            counts.lost
        );
        let mut causes: Vec<_> = counts.causes.iter().collect();
        causes.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
        for (cause, places) in causes {
            println!("    {}: {cause}", places.len());
            for place in places.iter().take(samples) {
                println!("        {place}");
            }
        }
    }
    Ok(())
}

/// Adds the declarations of a module.
fn compare(context: &ModuleContext<'_>, tally: &mut Tally) {
    let module = context.module;
    // Strings and documents have regions of their own.
    let path = context.path();
    let source = std::path::Path::new(&**path).extension().and_then(|it| it.to_str()).unwrap_or_default();
    if module.inside.is_some() || matches!(source, "py" | "ipynb" | "md" | "pyx") {
        return;
    }
    let text: &str = context.project.source(context.id);
    let known = Known::of(module);
    for declared in declarations(text) {
        let counts = tally.entry(declared.what).or_default();
        counts.all += 1;
        if known.has(&declared) {
            continue;
        }
        let inside = |span: &cudalint_syntax::Span| span.range().contains(&declared.at);
        if module.passed_over.iter().any(inside) {
            counts.passed_over += 1;
            continue;
        }
        counts.lost += 1;
        let line = text.get(..declared.at).unwrap_or_default().matches('\n').count() + 1;
        counts.causes.entry(cause(module, &declared)).or_default().push(format!("{path}:{line}: {}", declared.name));
    }
}

/// What may be the cause of a loss.
fn cause(module: &Module, declared: &Declared<'_>) -> String {
    let damage = module.damage.iter().map(|span| span.range());
    let touched = damage.clone().any(|range| range.start <= declared.at && declared.start <= range.end);
    if touched {
        return "the grammar could not read it".to_owned();
    }
    if let Some(word) = declared.macro_word {
        return format!("a macro in front of it: {word}");
    }
    if declared.conditional {
        return "between `#if` and `#endif`, of a branch that is read".to_owned();
    }
    if damage.clone().any(|range| range.end <= declared.at) {
        return "behind something that the grammar could not read".to_owned();
    }
    if declared.template { "a template".to_owned() } else { "nothing that stands out".to_owned() }
}

/// What a module has, by kind and name, with the places where the names stand.
struct Known<'m>(HashMap<(&'static str, &'m str), HashSet<usize>>);

impl<'m> Known<'m> {
    fn of(module: &'m Module) -> Self {
        let mut known: HashMap<(&'static str, &'m str), HashSet<usize>> = HashMap::new();
        let mut add = |kind, name: &'m str, span: cudalint_syntax::Span| {
            known.entry((kind, name)).or_default().insert(span.range().start);
        };
        for function in &module.functions {
            // Where a destructor begins is its `~`.
            add("function", function.name.trim_start_matches('~'), function.name_span);
            function.locals.iter().for_each(|local| add("variable", &local.name, local.span));
        }
        for record in &module.records {
            add("class", &record.name, record.span);
            // Of a template that is only declared, specializations are all there is.
            record.specializes.iter().for_each(|it| add("class", &it.template, record.span));
            record.fields.iter().for_each(|field| add("variable", &field.name, field.span));
        }
        module.globals.iter().for_each(|global| add("variable", &global.name, global.span));
        module.macros.iter().for_each(|it| add("macro", &it.name, it.name_span));
        Self(known)
    }

    /// Whether it is there: functions and macros at their places, since several may have one name.
    fn has(&self, declared: &Declared<'_>) -> bool {
        let (kind, placed) = match declared.what {
            What::Kernel | What::DeviceFunction | What::HostFunction => ("function", true),
            What::Macro => ("macro", true),
            What::Class => ("class", false),
            What::Variable | What::SharedVariable => ("variable", false),
        };
        self.0.get(&(kind, declared.name)).is_some_and(|places| !placed || places.contains(&declared.at))
    }
}
