//! Writes programs of random parts: functions in which features compute numbers and uses hand them to CUDA.

mod entries;

use crate::random::Random;
pub use entries::{Entry, Parts, read};
use std::collections::HashMap;

/// How deep features are nested in features.
const MAX_DEPTH: u32 = 3;

/// How a language spells what entries leave open.
pub trait Language: Sync {
    /// What begins a mark in an entry's text, beside `@`, `$` and `#`.
    fn mark(&self) -> Option<char> {
        None
    }

    /// Whether constants of the entry have to be written as digits.
    fn is_plain(&self, entry: &Entry) -> bool;

    /// Gives a number a name at namespace scope: the declaration, if it needs one, and the expression. None: it is written as digits.
    fn constant(&self, random: &mut Random, names: &mut u32, number: u64) -> Option<(Option<String>, String)>;

    /// A type that a number is kept in; nothing where the language has none to write.
    fn ty(&self, random: &mut Random) -> &'static str;

    /// A statement that keeps a number.
    fn variable(&self, ty: &str, name: &str, value: &str) -> String;

    /// A launch that is given a number.
    fn probe(&self, value: &str) -> String;
}

/// A program in writing.
pub struct Writer<'a> {
    random: &'a mut Random,
    language: &'a dyn Language,
    features: &'a [Entry],
    /// The second file's name, without its ending, and its lines.
    library: &'a str,
    pub module: Vec<String>,
    /// Names given so far.
    names: u32,
    /// Declarations that all functions so far need.
    pub globals: Vec<String>,
    /// The function in writing.
    body: Vec<String>,
    /// Its variables with a number.
    variables: Vec<String>,
    /// How many features it may still have.
    left: u32,
    pub used: Vec<&'static str>,
    /// Whether the innermost numbers are variables where there are any, not constants.
    of_variables: bool,
}

/// A function of a program.
pub struct Scene {
    pub name: String,
    /// Names of the parameters.
    pub parameters: Vec<String>,
    pub body: Vec<String>,
    /// The arguments of each call.
    pub calls: Vec<String>,
}

/// The names and expressions of one instance of an entry.
#[derive(Default)]
struct Instance {
    names: HashMap<String, String>,
    /// By what they are written as: `$1`, `#2`, `%1`.
    parts: HashMap<String, String>,
    /// Whether its constants are digits.
    plain: bool,
}

impl<'a> Writer<'a> {
    /// Nothing is written yet.
    pub fn new(random: &'a mut Random, language: &'a dyn Language, features: &'a [Entry], library: &'a str) -> Self {
        Self {
            random,
            language,
            features,
            library,
            module: Vec::new(),
            names: 0,
            globals: Vec::new(),
            body: Vec::new(),
            variables: Vec::new(),
            left: 6,
            used: Vec::new(),
            of_variables: false,
        }
    }

    /// The functions of the program of this number: the first programs have one entry alone with small constants, features first and
    /// uses then; those behind them have random parts.
    pub fn scenes(&mut self, uses: &[Entry], number: usize) -> Vec<Scene> {
        let features = self.features;
        if let Some(feature) = features.get(number) {
            let value = self.instance(feature, MAX_DEPTH);
            self.body.push(self.language.probe(&value));
        } else if let Some(entry) = uses.get(number - features.len()) {
            self.instance(entry, MAX_DEPTH);
        } else {
            return self.mixed(uses);
        }
        let body = std::mem::take(&mut self.body);
        vec![Scene { name: "scene0".into(), parameters: Vec::new(), body, calls: vec![String::new()] }]
    }

    fn mixed(&mut self, uses: &[Entry]) -> Vec<Scene> {
        let mut scenes = Vec::new();
        for number in 0..=self.random.below(3) {
            let parameters: Vec<String> = (0..self.random.below(3)).map(|at| format!("given{at}")).collect();
            self.variables.clone_from(&parameters);
            self.left = 6;
            for _ in 0..=self.random.below(2) {
                let entry = &uses[self.random.index(uses.len())];
                self.instance(entry, 0);
            }
            let calls = 1 + usize::from(!parameters.is_empty() && self.random.chance(30));
            let calls = (0..calls)
                .map(|_| parameters.iter().map(|_| self.random.below(1001).to_string()).collect::<Vec<_>>().join(", "))
                .collect();
            scenes.push(Scene {
                name: format!("scene{number}"),
                parameters,
                body: std::mem::take(&mut self.body),
                calls,
            });
        }
        scenes
    }

    /// The sequence that everything is chosen by.
    pub const fn random(&mut self) -> &mut Random {
        self.random
    }

    /// A function's statements, the number that they compute, and the names of the features in them; the variables are there
    /// already and hold 0 to 1000. With `alone`, it is made of this one feature.
    pub fn part(&mut self, variables: &[&str], alone: Option<&Entry>) -> (Vec<String>, String, Vec<&'static str>) {
        self.variables = variables.iter().map(|name| (*name).to_owned()).collect();
        self.of_variables = true;
        self.left = 5;
        let features = self.features;
        let value = match alone {
            Some(feature) => self.instance(feature, MAX_DEPTH),
            None => {
                let which = self.random.index(features.len());
                self.instance(&features[which], 0)
            }
        };
        (std::mem::take(&mut self.body), value, std::mem::take(&mut self.used))
    }

    /// Adds an entry to the function in writing; its value, an expression in parentheses.
    fn instance(&mut self, entry: &Entry, depth: u32) -> String {
        self.used.push(entry.name);
        let mut instance = Instance { plain: self.language.is_plain(entry), ..Instance::default() };
        // What the lines need comes before the first of them.
        let module = self.lines(&entry.module, &mut instance, MAX_DEPTH);
        self.module.extend(module);
        let globals = self.lines(&entry.global, &mut instance, MAX_DEPTH);
        self.globals.extend(globals);
        let lines = self.lines(&entry.local, &mut instance, depth);
        let value = entry.value.map(|value| self.substitute(value, &mut instance, depth)).unwrap_or_default();
        self.body.extend(lines);
        format!("({value})")
    }

    fn lines(&mut self, lines: &[&str], instance: &mut Instance, depth: u32) -> Vec<String> {
        lines.iter().map(|line| self.substitute(line, instance, depth)).collect()
    }

    fn substitute(&mut self, text: &str, instance: &mut Instance, depth: u32) -> String {
        let of_language = self.language.mark();
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(|c| ['@', '$', '#'].contains(&c) || Some(c) == of_language) {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            let (mark, behind) = from.split_at(1);
            if let ("@", Some(after)) = (mark, behind.strip_prefix('@')) {
                out.push('@');
                rest = after;
                continue;
            }
            if mark == "@" {
                let braced = behind.starts_with('{');
                let name = behind.trim_start_matches('{');
                let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
                let (name, after) = name.split_at(end);
                if name == "LIB" {
                    out.push_str(self.library);
                    rest = after;
                    continue;
                }
                let names = &mut self.names;
                let full = instance.names.entry(name.to_owned()).or_insert_with(|| {
                    *names += 1;
                    format!("{name}{names}")
                });
                out.push_str(full);
                rest = if braced { after.trim_start_matches('}') } else { after };
                continue;
            }
            let digit = behind.chars().next().filter(char::is_ascii_digit);
            let Some(digit) = digit else {
                out.push_str(mark);
                rest = behind;
                continue;
            };
            let key = format!("{mark}{digit}");
            let (known, plain) = (instance.parts.get(&key).cloned(), instance.plain);
            let part = known.unwrap_or_else(|| {
                let part = match mark {
                    "$" => self.number(depth),
                    "#" if plain => (self.random.below(16) + 1).to_string(),
                    "#" => self.constant(),
                    _ => self.language.ty(self.random).to_owned(),
                };
                instance.parts.insert(key, part.clone());
                part
            });
            out.push_str(&part);
            rest = &behind[1..];
        }
        out.push_str(rest);
        out
    }

    /// A constant from 1 to 16.
    fn constant(&mut self) -> String {
        let number = self.random.below(16) + 1;
        let Some((declaration, name)) = self.language.constant(self.random, &mut self.names, number) else {
            return number.to_string();
        };
        self.globals.extend(declaration);
        name
    }

    /// An expression from 0 to 1000.
    fn number(&mut self, depth: u32) -> String {
        let which = self.random.below(100);
        let innermost = depth >= MAX_DEPTH || self.left == 0;
        if self.of_variables && innermost && which < 80 && !self.variables.is_empty() {
            return self.variables[self.random.index(self.variables.len())].clone();
        }
        if innermost || which < 20 {
            return self.random.below(1001).to_string();
        }
        if which < 40 && !self.variables.is_empty() {
            return self.variables[self.random.index(self.variables.len())].clone();
        }
        self.left -= 1;
        let features = self.features;
        let feature = &features[self.random.index(features.len())];
        let value = self.instance(feature, depth + 1);
        if self.random.chance(60) {
            self.names += 1;
            let name = format!("n{}", self.names);
            let ty = self.language.ty(self.random);
            self.body.push(self.language.variable(ty, &name, &format!("{value} % 1001")));
            self.variables.push(name.clone());
            return name;
        }
        format!("({value} % 1001)")
    }
}
