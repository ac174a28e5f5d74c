//! One number for each thread of a block, in recycled memory; and which threads are active.

use std::cell::RefCell;
use std::rc::Rc;

type Pool<T> = Vec<Rc<Vec<T>>>;

/// What a lane can hold.
pub(super) trait Element: Copy + Default + 'static {
    /// Runs `f` on the vectors of this type that nobody uses.
    fn with_pool<R>(f: impl FnOnce(&mut Pool<Self>) -> R) -> R;
}

thread_local! {
    static WORDS: RefCell<Pool<i64>> = const { RefCell::new(Vec::new()) };
    static BYTES: RefCell<Pool<u8>> = const { RefCell::new(Vec::new()) };
}

impl Element for i64 {
    fn with_pool<R>(f: impl FnOnce(&mut Pool<Self>) -> R) -> R {
        WORDS.with(|pool| f(&mut pool.borrow_mut()))
    }
}

impl Element for u8 {
    fn with_pool<R>(f: impl FnOnce(&mut Pool<Self>) -> R) -> R {
        BYTES.with(|pool| f(&mut pool.borrow_mut()))
    }
}

/// Most vectors that wait for their next use.
const POOLED: usize = 256;

/// A value for each lane. Copies share memory until one of them is changed.
pub(super) struct Lanes<T: Element>(Option<Rc<Vec<T>>>);

impl<T: Element> Lanes<T> {
    /// Of `n` lanes, with anything in them.
    pub(super) fn any(n: usize) -> Self {
        let mut vector = T::with_pool(Vec::pop).unwrap_or_default();
        if vector.len() != n
            && let Some(inner) = Rc::get_mut(&mut vector)
        {
            inner.resize(n, T::default());
        }
        Self(Some(vector))
    }

    /// The same in all lanes.
    pub(super) fn filled(n: usize, value: T) -> Self {
        let mut lanes = Self::any(n);
        lanes.edit().fill(value);
        lanes
    }

    /// Made lane by lane.
    pub(super) fn from_fn(n: usize, mut f: impl FnMut(usize) -> T) -> Self {
        let mut lanes = Self::any(n);
        for (lane, out) in lanes.edit().iter_mut().enumerate() {
            *out = f(lane);
        }
        lanes
    }

    /// To read.
    pub(super) fn get(&self) -> &[T] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }

    /// To change; a copy is made where somebody else reads the same.
    pub(super) fn edit(&mut self) -> &mut [T] {
        let shared = self.0.as_ref().is_none_or(|vector| Rc::strong_count(vector) != 1);
        if shared {
            let mut own = Self::any(self.get().len());
            if let Some(vector) = own.0.as_mut().and_then(Rc::get_mut) {
                vector.copy_from_slice(self.get());
            }
            *self = own;
        }
        self.0.as_mut().and_then(Rc::get_mut).map_or(&mut [], Vec::as_mut_slice)
    }
}

impl<T: Element> Clone for Lanes<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Element> Drop for Lanes<T> {
    fn drop(&mut self) {
        let Some(vector) = self.0.take() else { return };
        if Rc::strong_count(&vector) == 1 {
            T::with_pool(|pool| {
                if pool.len() < POOLED {
                    pool.push(vector);
                }
            });
        }
    }
}

/// Not here.
pub(super) const OFF: u8 = 0;
/// Perhaps here: may-active.
pub(super) const MAYBE: u8 = 1;
/// Surely here: must-active.
pub(super) const SURE: u8 = 2;

/// Which lanes execute something: [`OFF`], [`MAYBE`] or [`SURE`] for each.
#[derive(Clone)]
pub(super) struct Mask {
    levels: Lanes<u8>,
    sure: u32,
    maybe: u32,
}

impl Mask {
    /// From the levels of the lanes.
    pub(super) fn new(levels: Lanes<u8>) -> Self {
        let (mut sure, mut here) = (0, 0);
        for chunk in levels.get().chunks(128) {
            let (mut s, mut h) = (0u8, 0u8);
            for &level in chunk {
                s += level >> 1;
                h += u8::from(level != OFF);
            }
            sure += u32::from(s);
            here += u32::from(h);
        }
        Self { levels, sure, maybe: here - sure }
    }

    /// All of `n` lanes surely.
    pub(super) fn full(n: usize) -> Self {
        Self { levels: Lanes::filled(n, SURE), sure: n as u32, maybe: 0 }
    }

    /// None of `n` lanes.
    pub(super) fn none(n: usize) -> Self {
        Self { levels: Lanes::filled(n, OFF), sure: 0, maybe: 0 }
    }

    /// Level of each lane.
    pub(super) fn levels(&self) -> &[u8] {
        self.levels.get()
    }

    /// How many lanes are surely or perhaps here.
    pub(super) const fn count(&self) -> u32 {
        self.sure + self.maybe
    }

    /// How many lanes are surely here.
    pub(super) const fn sure(&self) -> u32 {
        self.sure
    }

    /// How many lanes are perhaps here.
    pub(super) const fn maybe(&self) -> u32 {
        self.maybe
    }

    /// Whether nobody is here.
    pub(super) const fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Whether every lane of the block is surely here.
    pub(super) fn is_full(&self) -> bool {
        self.sure as usize == self.levels().len()
    }

    /// Whether every lane of the block is here, surely or perhaps.
    pub(super) fn is_everyone(&self) -> bool {
        self.count() as usize == self.levels().len()
    }

    /// The same lanes, none of them more than may-active.
    pub(super) fn as_may_active(&self) -> Self {
        if self.sure == 0 {
            return self.clone();
        }
        let mut levels = self.levels.clone();
        for level in levels.edit() {
            *level = (*level).min(MAYBE);
        }
        Self { levels, sure: 0, maybe: self.count() }
    }

    /// The lanes that are only may-active, as must-active ones.
    pub(super) fn only_may_active(&self) -> Self {
        let mut levels = Lanes::any(self.levels().len());
        for (out, &level) in levels.edit().iter_mut().zip(self.levels()) {
            *out = if level == MAYBE { SURE } else { OFF };
        }
        Self { levels, sure: self.maybe, maybe: 0 }
    }

    /// The lanes of either, at the higher of their levels.
    pub(super) fn or(&self, other: &Self) -> Self {
        if other.is_empty() {
            return self.clone();
        }
        if self.is_empty() {
            return other.clone();
        }
        let mut levels = self.levels.clone();
        for (level, &more) in levels.edit().iter_mut().zip(other.levels()) {
            *level = (*level).max(more);
        }
        Self::new(levels)
    }

    /// The first lane that is surely here.
    pub(super) fn first_sure(&self) -> Option<usize> {
        self.levels().iter().position(|&level| level == SURE)
    }
}
