//! Inline assembly.

use super::fields::{Field, field};
use super::literals;
use super::source::{Src, children};
use super::state::Lowerer;
use crate::ir::{Block, Expr, Stmt};
use cudalint_syntax::Node;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};

impl Lowerer<'_> {
    /// `asm("…" : outputs : inputs)`.
    pub(super) fn assembly<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) {
        let mut text = String::new();
        if let Some(code) = field(node, Field::AssemblyCode) {
            match cuda_kind(code) {
                CudaKind::StringLiteral => literals::string(s.text(code), &mut text),
                CudaKind::RawStringLiteral => text = literals::raw_string(s.text(code)),
                _ => {
                    for part in children(code) {
                        literals::string(s.text(part), &mut text);
                    }
                }
            }
        }
        let mut operands = Vec::new();
        let mut outputs = 0;
        for (list, written) in [(Field::OutputOperands, true), (Field::InputOperands, false)] {
            let Some(list) = field(node, list) else { continue };
            for operand in children(list) {
                if let Some(value) = field(operand, Field::Value) {
                    let value = self.expr(s, value);
                    let span = s.span(operand);
                    outputs += u32::from(written);
                    operands.push(if written { self.push(Expr::AddressOf(value), span) } else { value });
                }
            }
        }
        self.emit(s, node, Stmt::Asm { text: text.into(), outputs, operands }, out);
    }
}
