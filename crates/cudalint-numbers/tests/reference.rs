//! Arithmetic held to one in 128 bits, on edges and on random numbers.
#![allow(clippy::unwrap_used)]

use cudalint_numbers::{BinaryOp, Integer, UnaryOp, binary, exact, floor_rem, python, raw, unary};

const TYPES: [Integer; 8] = [
    Integer::new(1, true),
    Integer::new(1, false),
    Integer::new(2, true),
    Integer::new(2, false),
    Integer::INT,
    Integer::UINT,
    Integer::LONG,
    Integer::SIZE,
];

const OPERATORS: [BinaryOp; 17] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::FloorDiv,
    BinaryOp::Rem,
    BinaryOp::Shl,
    BinaryOp::Shr,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
    BinaryOp::Eq,
    BinaryOp::Ne,
];

fn least(ty: Integer) -> i128 {
    if ty.signed { -(1 << (ty.bits() - 1)) } else { 0 }
}

fn most(ty: Integer) -> i128 {
    if ty.signed { (1 << (ty.bits() - 1)) - 1 } else { (1 << ty.bits()) - 1 }
}

/// The result on unbounded numbers.
fn reference(op: BinaryOp, ty: Integer, a: i128, b: i128) -> Option<i128> {
    let shift = (0..i128::from(ty.bits())).contains(&b);
    Some(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        // The one product beyond 128 bits has its own bits all the same.
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div | BinaryOp::Rem | BinaryOp::FloorDiv if b == 0 => return None,
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a % b,
        BinaryOp::FloorDiv => a.div_euclid(b) - i128::from(b < 0 && a % b != 0),
        BinaryOp::Shl | BinaryOp::Shr if !shift => return None,
        BinaryOp::Shl => a << b,
        BinaryOp::Shr => a >> b,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Lt => i128::from(a < b),
        BinaryOp::Le => i128::from(a <= b),
        BinaryOp::Gt => i128::from(a > b),
        BinaryOp::Ge => i128::from(a >= b),
        BinaryOp::Eq => i128::from(a == b),
        BinaryOp::Ne => i128::from(a != b),
        BinaryOp::TrueDiv | BinaryOp::Pow => return None,
    })
}

fn check(op: BinaryOp, ty: Integer, a: i128, b: i128) {
    let (kept_a, kept_b) = (a as i64, b as i64);
    assert_eq!((ty.number(kept_a), ty.number(kept_b)), (a, b), "{ty:?} keeps {a} and {b}");
    let outcome = binary(op, ty, kept_a, kept_b);
    let Some(expected) = reference(op, ty, a, b) else {
        assert_eq!(outcome, None, "{a} {op:?} {b} as {ty:?}");
        return;
    };
    let outcome = outcome.unwrap();
    let fits = (least(ty)..=most(ty)).contains(&expected);
    if op.is_comparison() {
        assert_eq!(i128::from(outcome.value), expected, "{a} {op:?} {b} as {ty:?}");
    } else {
        assert_eq!(ty.number(outcome.value), ty.reduced(expected), "{a} {op:?} {b} as {ty:?}");
        assert_eq!(outcome.exact, fits, "{a} {op:?} {b} as {ty:?}");
        assert_eq!(ty.wrap(raw(op, ty, kept_a, kept_b).unwrap()), outcome.value);
    }
}

#[test]
fn operators_give_what_unbounded_numbers_reduced_to_the_type_give() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for ty in TYPES {
        let edges = [least(ty), least(ty) + 1, -1, 0, 1, 2, 3, 7, 31, 32, 63, 64, most(ty) - 1, most(ty)];
        let edges: Vec<i128> = edges.into_iter().filter(|v| (least(ty)..=most(ty)).contains(v)).collect();
        for op in OPERATORS {
            for a in &edges {
                for b in &edges {
                    check(op, ty, *a, *b);
                }
            }
            for _ in 0..2_000 {
                let [a, mut b] = [random(), random()].map(|v| ty.reduced(i128::from(v)));
                if matches!(op, BinaryOp::Shl | BinaryOp::Shr) || random() % 4 == 0 {
                    b &= 63;
                }
                check(op, ty, a, ty.reduced(b));
            }
        }
    }
}

#[test]
fn conversions_keep_what_fits_and_reduce_the_rest() {
    for from in TYPES {
        for to in TYPES {
            for value in [least(from), -1, 0, 1, 127, 128, 255, 256, most(from)] {
                let value = from.reduced(value);
                let modulus = 1_i128 << to.bits();
                let low = value.rem_euclid(modulus);
                let expected = if low > most(to) { low - modulus } else { low };
                assert_eq!(to.reduced(value), expected, "{value} from {from:?} to {to:?}");
            }
        }
    }
}

#[test]
fn the_usual_conversions_follow_the_table_of_c() {
    use Integer as I;
    let [schar, uchar, short, ushort, int, uint, long, size] = TYPES;
    for (a, b, common) in [
        (schar, uchar, I::INT),
        (short, ushort, I::INT),
        (uchar, int, I::INT),
        (ushort, uint, I::UINT),
        (int, uint, I::UINT),
        (uint, long, I::LONG),
        (int, long, I::LONG),
        (long, size, I::SIZE),
        (int, size, I::SIZE),
        (schar, size, I::SIZE),
    ] {
        assert_eq!(a.common(b), common, "{a:?} with {b:?}");
        assert_eq!(b.common(a), common, "{b:?} with {a:?}");
    }
}

#[test]
fn python_rounds_down_and_has_no_bounds() {
    for a in -9_i64..=9 {
        for b in (-4_i64..=4).filter(|b| *b != 0) {
            let (down, rest) = ((a as f64 / b as f64).floor() as i64, python(BinaryOp::Rem, a, b).unwrap());
            assert_eq!(python(BinaryOp::FloorDiv, a, b), Some(down), "{a} // {b}");
            assert_eq!(rest, a - b * down, "{a} % {b}");
        }
    }
    assert_eq!(python(BinaryOp::Pow, 3, 4), Some(81));
    assert_eq!(python(BinaryOp::Add, i64::MAX, 1), None);
    assert_eq!(python(BinaryOp::FloorDiv, i64::MIN, -1), None);
    assert_eq!(python(BinaryOp::FloorDiv, 1, 0), None);
    assert_eq!(floor_rem(1, 0), None);
    assert_eq!(exact(BinaryOp::Shl, 1, 62), Some(1 << 62));
    assert_eq!(exact(BinaryOp::Shl, 1, 63), None);
}

#[test]
fn one_operand() {
    assert_eq!(unary(UnaryOp::Minus, Integer::UINT, 1), 0xffff_ffff);
    assert_eq!(unary(UnaryOp::Minus, Integer::INT, i64::from(i32::MIN)), i64::from(i32::MIN));
    assert_eq!(unary(UnaryOp::BitNot, Integer::UINT, 0), 0xffff_ffff);
    assert_eq!(unary(UnaryOp::BitNot, Integer::SIZE, 0), -1);
    assert_eq!(unary(UnaryOp::Not, Integer::INT, 5), 0);
}
