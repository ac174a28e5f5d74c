//! Launches in branches of `#if` that are not the program. Nothing of these is lowered: they are read from the text, as far as that is
//! plain.

use cudalint_program::ir::Module;

/// Extents of a block along x, y, z, where they are written as constants.
type Block = [Option<u32>; 3];

/// How many names, one standing for another, are followed.
const MAX_DEPTH: u32 = 4;

/// The launches in the branches of a file that are not the program: the name of the kernel, and the block.
pub(super) fn launches<'t>(module: &Module, text: &'t str) -> Vec<(&'t str, Block)> {
    let mut found = Vec::new();
    for branch in &module.passed_over {
        let inside = text.get(branch.range()).unwrap_or_default();
        for (at, _) in inside.match_indices("<<<") {
            let at = branch.range().start + at;
            let (Some(before), Some(after)) = (text.get(..at), text.get(at + 3..)) else { continue };
            let Some(name) = kernel(before).filter(|_| !in_comment(before)) else { continue };
            let Some((config, _)) = after.split_once(">>>") else { continue };
            if let Some(block) = arguments(config).get(1) {
                found.push((name, extents(module, before, block)));
            }
        }
    }
    found
}

const fn is_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// The word that a text ends with.
fn last_word(text: &str) -> &str {
    let start = text.trim_end_matches(is_of_word).len();
    text.get(start..).unwrap_or_default()
}

/// The name of the kernel in front of `<<<`; its template arguments may stand between.
fn kernel(before: &str) -> Option<&str> {
    let mut before = before.trim_end();
    if before.ends_with('>') {
        let mut depth = 0_i32;
        let open = before.char_indices().rev().find(|(_, letter)| {
            depth += i32::from(*letter == '>') - i32::from(*letter == '<');
            depth == 0
        });
        before = before.get(..open?.0)?.trim_end();
    }
    Some(last_word(before)).filter(|word| word.starts_with(|letter: char| !letter.is_ascii_digit()))
}

/// Whether what follows a text is a part of a comment.
fn in_comment(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let opened = before.rfind("/*").is_some_and(|open| before.get(open..).is_some_and(|rest| !rest.contains("*/")));
    line.contains("//") || opened
}

/// The parts of a list between its commas.
fn arguments(list: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let parts = list.split(|letter: char| {
        depth += i32::from(matches!(letter, '(' | '{' | '[')) - i32::from(matches!(letter, ')' | '}' | ']'));
        letter == ',' && depth == 0
    });
    parts.map(str::trim).collect()
}

/// The constants in the text of a block; `before` is the file up to the launch.
fn extents(module: &Module, before: &str, block: &str) -> Block {
    if let Some(list) = block.strip_prefix("dim3").and_then(list_at) {
        return of_list(module, list);
    }
    if !block.is_empty() && block.chars().all(is_of_word) {
        if let Some(list) = declared(before, block) {
            return of_list(module, list);
        }
        if number(module, block, 0).is_none() {
            return [None; 3];
        }
    }
    [number(module, block, 0), Some(1), Some(1)]
}

fn of_list(module: &Module, list: &str) -> Block {
    let parts = arguments(list);
    let axis = |axis: usize| match parts.get(axis) {
        Some(part) => number(module, part, 0),
        None => Some(1),
    };
    [axis(0), axis(1), axis(2)]
}

/// What stands between the parentheses or braces that a text begins with.
fn list_at(text: &str) -> Option<&str> {
    let text = text.trim_start().strip_prefix(['(', '{'])?;
    let mut depth = 1_i32;
    let end = text.find(|letter: char| {
        depth += i32::from(matches!(letter, '(' | '{')) - i32::from(matches!(letter, ')' | '}'));
        depth == 0
    })?;
    text.get(..end)
}

/// What the last `dim3` of this name in a text is made of.
fn declared<'t>(before: &'t str, name: &str) -> Option<&'t str> {
    before.rmatch_indices(name).find_map(|(at, _)| {
        let (head, rest) = (before.get(..at)?, before.get(at + name.len()..)?);
        let declarator = head.trim_end();
        let alone = head.ends_with(|letter: char| !is_of_word(letter));
        // `dim3 grid(8), block(16, 16);` as well.
        let statement = declarator.rsplit([';', '{', '}', '\n']).next()?.trim_start();
        (alone && statement.starts_with("dim3") && !in_comment(head)).then(|| list_at(rest))?
    })
}

/// A number as it is written: a literal, a macro that stands for one, or a product of these.
fn number(module: &Module, text: &str, depth: u32) -> Option<u32> {
    let text = text.trim();
    if depth > MAX_DEPTH || text.is_empty() {
        return None;
    }
    if let Some((left, right)) = text.split_once('*') {
        return number(module, left, depth + 1)?.checked_mul(number(module, right, depth + 1)?);
    }
    if let Some(inside) = list_at(text).filter(|inside| inside.len() + 2 == text.len()) {
        return number(module, inside, depth + 1);
    }
    if let Ok(value) = text.trim_end_matches(['u', 'U', 'l', 'L']).parse() {
        return Some(value);
    }
    let mut definitions = module.macros.iter().filter(|it| it.name.as_str() == text && it.params.is_none());
    match (definitions.next(), definitions.next()) {
        (Some(only), None) => number(module, &only.body, depth + 1),
        _ => None,
    }
}
