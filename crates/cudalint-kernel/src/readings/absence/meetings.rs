//! Where threads of a block meet.

use crate::code::{Code, Expr, Intrinsic, Item};

fn is_meeting(kind: &Expr) -> bool {
    matches!(kind, Expr::Intrinsic(Intrinsic::BlockBarrier | Intrinsic::BlockVote(_) | Intrinsic::GridBarrier, _))
}

pub(super) fn has_meeting(code: &Code, meeting: &[bool], items: &[Item]) -> bool {
    let mut found = false;
    let mut look = |item: Item| {
        if let Item::Expr(id) = item {
            found |= match &code.expr(id).kind {
                Expr::Call(callee, _) => meeting.get(callee.index()).copied().unwrap_or(true),
                kind => is_meeting(kind),
            };
        }
        !found
    };
    for item in items {
        match item {
            Item::Stmt(id) => code.walk(&vec![*id], &mut look),
            Item::Expr(id) => code.walk_expr(*id, |id, _| look(Item::Expr(id))),
        }
    }
    found
}

/// In which functions threads meet, through calls too.
pub(super) fn meeting_functions(code: &Code) -> Vec<bool> {
    let mut meeting = vec![false; code.functions.len()];
    loop {
        let mut changed = false;
        for (index, function) in code.functions.iter().enumerate() {
            if meeting.get(index) == Some(&false) {
                let items: Vec<Item> = function.body.iter().map(|id| Item::Stmt(*id)).collect();
                if has_meeting(code, &meeting, &items)
                    && let Some(slot) = meeting.get_mut(index)
                {
                    *slot = true;
                    changed = true;
                }
            }
        }
        if !changed {
            return meeting;
        }
    }
}
