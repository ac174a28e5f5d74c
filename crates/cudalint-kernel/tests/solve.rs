//! Questions about launches with open sizes, asked of the search alone.
#![allow(clippy::unwrap_used)]

use cudalint_kernel::solve::{Constraint, Operation, Relation, TermId, Terms, Variable, search};

struct Question {
    terms: Terms,
    constraints: Vec<Constraint>,
}

impl Question {
    fn new() -> Self {
        Self { terms: Terms::default(), constraints: Vec::new() }
    }

    fn variable(&mut self, low: i64, high: i64) -> (Variable, TermId) {
        self.terms.variable(low, high)
    }

    fn constant(&mut self, value: i64) -> TermId {
        self.terms.constant(value)
    }

    fn of(&mut self, operation: Operation, a: TermId, b: TermId) -> TermId {
        self.terms.of(operation, a, b)
    }

    fn with(&mut self, left: TermId, relation: Relation, right: TermId) {
        self.constraints.push(Constraint { left, relation, right });
    }

    /// `(n + by - 1) / by`.
    fn rounded_up(&mut self, n: TermId, by: i64) -> TermId {
        let (more, by) = (self.constant(by - 1), self.constant(by));
        let sum = self.of(Operation::Add, n, more);
        self.of(Operation::Div, sum, by)
    }

    /// `blockIdx * block + threadIdx` for a grid of so many blocks.
    fn global_index(&mut self, grid: TermId, block: i64) -> TermId {
        let (_, thread) = self.variable(0, 1023);
        let (_, index) = self.variable(0, 1 << 31);
        let block = self.constant(block);
        self.with(thread, Relation::Less, block);
        self.with(index, Relation::Less, grid);
        let start = self.of(Operation::Mul, index, block);
        self.of(Operation::Add, start, thread)
    }

    fn answer(&self) -> Option<Vec<i64>> {
        search(&self.terms, &self.constraints)
    }
}

#[test]
fn a_guard_off_by_one_fails_for_a_size_that_is_no_multiple() {
    let mut question = Question::new();
    let (n, size) = question.variable(1, 1 << 20);
    let grid = question.rounded_up(size, 256);
    let index = question.global_index(grid, 256);
    question.with(index, Relation::AtMost, size);
    question.with(size, Relation::AtMost, index);
    let found = question.answer().unwrap();
    assert_ne!(found[n.index()] % 256, 0, "{found:?}");
}

#[test]
fn a_right_guard_leaves_nothing() {
    let mut question = Question::new();
    let (_, size) = question.variable(1, 1 << 20);
    let grid = question.rounded_up(size, 256);
    let index = question.global_index(grid, 256);
    question.with(index, Relation::Less, size);
    question.with(size, Relation::AtMost, index);
    assert_eq!(question.answer(), None);
}

#[test]
fn swapped_sides_of_a_matrix_fail_when_it_is_not_square() {
    let mut question = Question::new();
    let (w, width) = question.variable(1, 4096);
    let (h, height) = question.variable(1, 4096);
    let (columns, rows) = (question.rounded_up(width, 16), question.rounded_up(height, 16));
    let (x, y) = (question.global_index(columns, 16), question.global_index(rows, 16));
    question.with(x, Relation::Less, width);
    question.with(y, Relation::Less, height);
    // x * width + y, in a matrix of width * height.
    let row = question.of(Operation::Mul, x, width);
    let index = question.of(Operation::Add, row, y);
    let extent = question.of(Operation::Mul, width, height);
    question.with(extent, Relation::AtMost, index);
    let found = question.answer().unwrap();
    assert_ne!(found[w.index()], found[h.index()], "{found:?}");
}

#[test]
fn a_constant_in_a_guard_is_met() {
    let mut question = Question::new();
    let (n, size) = question.variable(1, 1 << 20);
    let grid = question.rounded_up(size, 128);
    let index = question.global_index(grid, 128);
    let (one, far) = (question.constant(1), question.constant(1000));
    question.with(index, Relation::Less, size);
    question.with(index, Relation::Equal, far);
    // a[i + 1]
    let next = question.of(Operation::Add, index, one);
    question.with(size, Relation::AtMost, next);
    assert_eq!(question.answer().unwrap()[n.index()], 1001);
}

#[test]
fn operations_without_a_value_are_no_answer() {
    let mut question = Question::new();
    let (_, a) = question.variable(0, 0);
    let one = question.constant(1);
    let quotient = question.of(Operation::Div, one, a);
    question.with(quotient, Relation::AtMost, one);
    assert_eq!(question.answer(), None);
}
