//! What a kernel was checked for and how, as the document of `cudalint coverage` has it.

use crate::rule::ModuleContext;
use cudalint_findings::coverage::{
    Absent, AbsentKind, Accesses, At, Blocks, Cause, Elements, Executed, Index, Kernel, Launch, Line, Open, Seen,
};
use cudalint_findings::{Place, Sources};
use cudalint_replay::facts::Site;
use cudalint_replay::runs::absence::{Absence, Extent, Says, Shape};
use cudalint_replay::runs::{Basis, IndexAccount, KernelAccount};
use std::sync::Arc;

/// An account of a kernel in the words of the document. The texts that its places are in are added to `sources`.
pub fn kernel(context: &ModuleContext<'_>, account: &KernelAccount, sources: &mut Sources) -> Kernel {
    let mut at = |site| {
        let place: Place = context.place_of(site);
        if sources.get(&place.path).is_none() {
            sources.insert(Arc::clone(&place.path), Arc::clone(context.project.source(site.module)));
        }
        let start = sources.start(&place);
        At { path: place.path.to_string(), cell: start.cell, line: start.line, column: start.column }
    };
    let known: Vec<&IndexAccount> = known_indices(account).collect();
    let lines: Vec<Line> = account
        .accesses
        .iter()
        .map(|access| Line {
            at: at(access.site),
            access: match access.known {
                Some(true) => Seen::Known,
                Some(false) => Seen::Unknown,
                None => Seen::NotExecuted,
            },
            indices: known
                .iter()
                .filter(|it| around(account, it.site) == Some(access.site))
                .flat_map(|it| indices(it, &mut at))
                .collect(),
        })
        .collect();
    let count = |seen: Seen| lines.iter().filter(|line| line.access == seen).count();
    let accesses = Accesses {
        all: lines.len(),
        known: count(Seen::Known),
        unknown: count(Seen::Unknown),
        not_executed: count(Seen::NotExecuted),
    };
    let launches = account
        .launches
        .iter()
        .map(|it| Launch { at: at(it.site), executed: executed(it.basis), cause: it.cause.clone() })
        .collect();
    let causes = account.causes.iter().map(|it| Cause { at: at(it.site), message: it.cause.clone() }).collect();
    let (absent, open) = absence(&account.absence, &mut at);
    Kernel {
        name: account.name.clone(),
        at: at(account.site),
        executed: executed(account.basis),
        launches,
        accesses,
        lines,
        causes,
        absent,
        open,
    }
}

/// Subscripts of which the values are known in each launch that was executed with facts.
pub fn known_indices(account: &KernelAccount) -> impl Iterator<Item = &IndexAccount> {
    let known = |site| account.indices.iter().filter(|it| it.site == site).all(|it| it.values.is_some());
    account.indices.iter().filter(move |it| known(it.site))
}

/// The access that a subscript belongs to: the innermost around it.
pub fn around(account: &KernelAccount, site: Site) -> Option<Site> {
    let around = account.accesses.iter().map(|access| access.site);
    around.filter(|it| it.module == site.module && it.span.contains(site.span)).min_by_key(|it| it.span.len())
}

/// The values of a subscript, launch by launch.
fn indices(account: &IndexAccount, at: &mut impl FnMut(Site) -> At) -> Vec<Index> {
    let Some(values) = account.values else { return Vec::new() };
    let index = |launch: &Site| Index {
        at: at(account.site),
        launch: at(*launch),
        grid: account.grid,
        block: account.block,
        least: values.least,
        most: values.most,
        elements: values.of,
    };
    account.launches.iter().map(index).collect()
}

const fn executed(basis: Option<Basis>) -> Executed {
    match basis {
        None => Executed::Not,
        Some(Basis::GuessedBlock) => Executed::GuessedBlock,
        Some(Basis::Assumption) => Executed::Assumption,
        Some(Basis::FirstBlock) => Executed::FirstBlock,
        Some(Basis::Facts) => Executed::Facts,
    }
}

fn absence(absence: &Absence, at: &mut impl FnMut(Site) -> At) -> (Vec<Absent>, Vec<Open>) {
    let absent = absence.statements.iter().map(|it| {
        let blocks = blocks(&it.blocks);
        let (kind, elements, message) = match &it.says {
            Says::NoRace => (
                AbsentKind::Race,
                None,
                format!("no two threads of a block race in shared memory `{}`, for {}", it.name, blocks.words()),
            ),
            Says::Within(Extent::Declared) => (
                AbsentKind::OutOfBounds,
                None,
                format!("accesses to `{}` stay within, for {}", it.name, blocks.words()),
            ),
            Says::Within(Extent::Elements(count, bytes)) => (
                AbsentKind::OutOfBounds,
                Some(Elements { count: count.clone(), bytes: *bytes }),
                format!(
                    "accesses to `{}` stay within an array of `{count}` elements of {bytes} bytes, for {}",
                    it.name,
                    blocks.words()
                ),
            ),
        };
        Absent { kind, object: it.name.clone(), at: at(it.site), elements, blocks, message }
    });
    let absent = absent.collect();
    let open = absence.open.iter().map(|(name, refusal)| Open {
        object: name.clone(),
        at: at(refusal.site),
        message: refusal.cause.to_owned(),
    });
    (absent, open.collect())
}

const fn blocks(shape: &Shape) -> Blocks {
    Blocks { axes: shape.axes, most: shape.most, exactly: shape.exactly }
}
