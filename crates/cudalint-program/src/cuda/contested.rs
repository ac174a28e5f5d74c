//! Statements in `#if` groups whose branch nobody knows: one of the branches is in the program, and which one is not decided.

use super::declarators::inner;
use super::fields::{Field, field};
use super::parts::Parts;
use super::preprocessor::{asked, children_of_branch, is_group};
use super::source::{Src, named_children};
use super::state::Lowerer;
use crate::configuration::Grounds;
use crate::ir::{Block, Expr, ExprId, Stmt, StmtId, Type};
use cudalint_syntax::Node;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};

/// Groups in groups, and branches of a group, that are looked at.
const MAX_DEPTH: u32 = 16;
const MAX_BRANCHES: usize = 64;

impl Lowerer<'_> {
    /// Whether nothing decides which branch of a group is the program.
    pub(super) fn is_contested<'t>(&mut self, s: Src<'t>, group: Node<'t>) -> bool {
        for branch in branches(group) {
            let Some(text) = asked(s, branch) else { return false };
            let decision = self.view.decide(&text, place(s, branch), self.is_host_only());
            match decision.grounds {
                Grounds::Contested => return true,
                _ if decision.holds => return false,
                _ => {}
            }
        }
        false
    }

    /// Lowers a group as an `if` whose condition is not known.
    pub(super) fn contested_group<'t>(&mut self, s: Src<'t>, group: Node<'t>, out: &mut Block) {
        if !is_plain(s, group, group, 0) {
            return self.declaring_group(s, group, out);
        }
        let span = s.span(group);
        let mut arms: Vec<Block> = Vec::new();
        let mut otherwise = Block::new();
        for branch in branches(group).take(MAX_BRANCHES) {
            let decision = asked(s, branch).map(|text| self.view.decide(&text, place(s, branch), self.is_host_only()));
            let is_open = decision.is_some_and(|it| it.grounds == Grounds::Contested);
            if decision.is_some_and(|it| !is_open && !it.holds) {
                continue;
            }
            let mut block = Block::new();
            for child in self.chosen_among(s, children_of_branch(branch), true) {
                self.statement(s, child, &mut block);
            }
            if is_open {
                arms.push(block);
            } else {
                otherwise = block;
                break;
            }
        }
        for then in arms.into_iter().rev() {
            let condition = self.push(Expr::Unknown(Vec::new()), span);
            let choice = Stmt::If { condition, then, otherwise: std::mem::take(&mut otherwise), constant: false };
            otherwise = vec![self.push_stmt(choice, span)];
        }
        out.append(&mut otherwise);
    }

    /// As [`Self::contested_group`], where code behind the group sees what a branch declares: it is declared as one of them does, and has
    /// no known value; of what they declare with several types the type is not known.
    fn declaring_group<'t>(&mut self, s: Src<'t>, group: Node<'t>, out: &mut Block) {
        let mut nodes = Vec::new();
        self.branch(s, group, &mut nodes);
        let taken = |node: &Node<'t>| nodes.iter().any(|it| it.id() == node.id());
        let others: Vec<Vec<Node<'t>>> = branches(group)
            .take(MAX_BRANCHES)
            .map(children_of_branch)
            .filter(|children| !children.iter().any(&taken))
            .collect();
        let mut declared = Block::new();
        for node in nodes {
            if cuda_kind(node) == CudaKind::Declaration {
                self.statement(s, node, &mut declared);
                self.forget_types(s, node, &others, &declared);
                let lost: Vec<ExprId> = declared.iter().filter_map(|id| self.forgets(*id)).collect();
                out.append(&mut declared);
                for value in lost {
                    self.emit(s, group, Stmt::Expr(value), out);
                }
            } else {
                self.perhaps(s, group, vec![node], out);
            }
        }
        for children in others {
            self.perhaps(s, group, children, out);
        }
    }

    /// Takes the types from the names of a declaration that other branches declare with another type.
    fn forget_types<'t>(&mut self, s: Src<'t>, declaration: Node<'t>, others: &[Vec<Node<'t>>], declared: &Block) {
        for id in declared {
            let Some(Stmt::Declare(local)) = self.module.stmts.get(*id).map(|node| &node.kind) else { continue };
            let local = *local;
            let Some(name) = self.local_mut(local).map(|variable| variable.name.clone()) else { continue };
            let own = type_in_words(s, declaration, &name);
            let mut of_others = others.iter().flatten().filter_map(|other| type_in_words(s, *other, &name));
            if of_others.any(|other| own.as_ref() != Some(&other)) {
                let unknown = self.push_type(Type::Unknown);
                if let Some(variable) = self.local_mut(local) {
                    variable.ty = unknown;
                }
            }
        }
    }

    /// Statements that may or may not be in the program.
    fn perhaps<'t>(&mut self, s: Src<'t>, group: Node<'t>, nodes: Vec<Node<'t>>, out: &mut Block) {
        let mark = self.open_scope();
        let mut then = Block::new();
        for node in self.chosen_among(s, nodes, true) {
            self.statement(s, node, &mut then);
        }
        self.close_scope(mark);
        let condition = self.push(Expr::Unknown(Vec::new()), s.span(group));
        self.emit(s, group, Stmt::If { condition, then, otherwise: Block::new(), constant: false }, out);
    }

    /// An assignment of a value that nobody knows to what a statement declares.
    fn forgets(&mut self, declaration: StmtId) -> Option<ExprId> {
        let node = self.module.stmts.get(declaration)?;
        let (Stmt::Declare(local), span) = (&node.kind, node.span) else { return None };
        let target = Expr::Local(*local);
        let target = self.push(target, span);
        let value = self.push(Expr::Unknown(Vec::new()), span);
        Some(self.push(Expr::Assign { op: None, target, value }, span))
    }
}

/// The type that a declaration gives a name, as written and without its spaces; nothing where it declares no such name.
fn type_in_words(s: Src<'_>, declaration: Node<'_>, name: &str) -> Option<String> {
    if cuda_kind(declaration) != CudaKind::Declaration {
        return None;
    }
    let parts = Parts::of(s, declaration);
    let first = parts.declarators.first()?.start_byte();
    let names_it = |declarator: &Node<'_>| {
        let innermost = std::iter::successors(Some(*declarator), |node| inner(*node)).take(MAX_BRANCHES).last();
        innermost.is_some_and(|node| cuda_kind(node) == CudaKind::Identifier && s.text(node) == name)
    };
    let declarators = parts.declarators.iter().filter_map(|child| match cuda_kind(*child) {
        CudaKind::InitDeclarator => field(*child, Field::Declarator),
        _ => Some(*child),
    });
    let declarator = declarators.into_iter().find(names_it)?;
    let specifiers = s.text.get(declaration.start_byte()..first)?;
    Some(format!("{specifiers} {}", s.text(declarator)).split_whitespace().collect())
}

/// The place that a branch's condition is asked at.
pub(super) fn place(s: Src<'_>, branch: Node<'_>) -> u32 {
    if s.is_file() { branch.start_byte() as u32 } else { u32::MAX }
}

/// The branches of a group, in order.
pub(super) fn branches(group: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    std::iter::successors(Some(group), |node| field(*node, Field::Alternative))
}

/// Whether the branches of a group are whole statements that declare nothing for those behind the outermost group.
pub(super) fn is_plain(s: Src<'_>, outer: Node<'_>, group: Node<'_>, depth: u32) -> bool {
    let is_whole = |node: &Node<'_>| match cuda_kind(*node) {
        CudaKind::ExpressionStatement
        | CudaKind::CompoundStatement
        | CudaKind::IfStatement
        | CudaKind::ForStatement
        | CudaKind::ForRangeLoop
        | CudaKind::WhileStatement
        | CudaKind::DoStatement
        | CudaKind::SwitchStatement
        | CudaKind::ReturnStatement
        | CudaKind::BreakStatement
        | CudaKind::ContinueStatement
        | CudaKind::ThrowStatement
        | CudaKind::TryStatement
        | CudaKind::Comment
        | CudaKind::PreprocDef
        | CudaKind::PreprocFunctionDef
        | CudaKind::PreprocCall
        | CudaKind::PreprocInclude => true,
        CudaKind::Declaration => is_unnamed_behind(s, outer, *node),
        _ => is_group(*node) && depth < MAX_DEPTH && is_plain(s, outer, *node, depth + 1),
    };
    branches(group).take(MAX_BRANCHES).all(|branch| children_of_branch(branch).iter().all(is_whole))
}

/// Whether nothing behind a group, in the block that it stands in, spells a name that a declaration in it declares: then what is declared lives
/// in its branch alone, though no brace says so. A declaration whose names are not understood is taken to be needed.
fn is_unnamed_behind(s: Src<'_>, group: Node<'_>, declaration: Node<'_>) -> bool {
    let behind = group.parent().and_then(|block| s.text.get(group.end_byte()..block.end_byte()));
    let Some(behind) = behind else { return false };
    let declares = |node: &Node<'_>| {
        matches!(
            cuda_kind(*node),
            CudaKind::InitDeclarator
                | CudaKind::Identifier
                | CudaKind::PointerDeclarator
                | CudaKind::ReferenceDeclarator
                | CudaKind::ArrayDeclarator
                | CudaKind::FunctionDeclarator
                | CudaKind::StructuredBindingDeclarator
        )
    };
    let mut declarators = named_children(declaration).into_iter().filter(declares).peekable();
    declarators.peek().is_some()
        && declarators.all(|declarator| {
            let first = match cuda_kind(declarator) {
                CudaKind::InitDeclarator => field(declarator, Field::Declarator),
                _ => Some(declarator),
            };
            let chain = std::iter::successors(first, |node| inner(*node)).take(MAX_BRANCHES);
            let name = chain.last().filter(|node| cuda_kind(*node) == CudaKind::Identifier);
            name.is_some_and(|name| !words(behind).any(|word| word == s.text(name)))
        })
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).filter(|word| !word.is_empty())
}
