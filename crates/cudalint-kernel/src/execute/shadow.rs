//! The shadow of an object's bytes: who touched a cell last, and what is in it.

use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// A few neighbouring bytes: as many as the smallest access to the object touches.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    /// Bits of the value in it, as `tag` says.
    pub(super) value: i64,
    /// Stamp of the last write by a lane that surely executed it; 0 for none.
    pub(super) write: u32,
    /// Stamps of two reads by different lanes, of different warps where there were such.
    pub(super) read: [u32; 2],
    /// Stamp of a read by a block that ran before.
    pub(super) foreign: u32,
    /// The lanes of these.
    pub(super) writer: u16,
    pub(super) reader: [u16; 2],
    pub(super) foreign_reader: u16,
    /// [`super::value::KNOWN`] and so on, or [`INITIAL`].
    pub(super) tag: u8,
    /// The type class of the value.
    pub(super) class: u8,
    /// [`KEPT`], [`CHANGED`], [`ACCUMULATED`] or 0, perhaps with [`BY_WARP`] and [`STILL`].
    pub(super) flags: u8,
    /// Stamp of the last write by a lane that was only may-active; 0 for none.
    pub(super) may_write: u32,
}

/// What was there before the launch or the block.
pub(super) const INITIAL: u8 = 7;
/// The last write stored what was there already.
pub(super) const KEPT: u8 = 1;
/// The last write surely changed the value.
pub(super) const CHANGED: u8 = 2;
/// The last write was an atomic operation that adds to what was there.
pub(super) const ACCUMULATED: u8 = 3;
/// Beside one of these: several lanes of one warp stored the same.
pub(super) const BY_WARP: u8 = 4;
/// Beside [`KEPT`]: all writes since the barrier stored what was there before it, whatever that is.
pub(super) const STILL: u8 = 8;

const FRESH: Cell = Cell {
    value: 0,
    write: 0,
    read: [0; 2],
    foreign: 0,
    writer: 0,
    reader: [0; 2],
    foreign_reader: 0,
    tag: INITIAL,
    class: 0,
    flags: 0,
    may_write: 0,
};

const PAGE_BITS: u32 = 7;
const LINE_BITS: u32 = 3;
/// Cells of a line.
pub(super) const LINE: usize = 1 << LINE_BITS;
/// Lines of a page.
const LINES: usize = 1 << (PAGE_BITS - LINE_BITS);
/// Pages that are found without hashing.
const NEAR_PAGES: usize = 2048;
/// Most pages of one object; what lies beyond is not followed.
const MAX_PAGES: usize = 1 << 14;
/// Lines that are kept in one piece of memory.
const SHELF: usize = 16;

/// Neighbouring cells. Neighbouring threads mostly touch neighbouring cells, all of a line in one step: as long as nobody
/// else came to it, what is known of the first cell tells all but the values of the others.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) cells: [Cell; LINE],
    /// The cells differ only in their values, and in that what the first says of a lane the next says of the lane behind
    /// it. The others' own words are not kept up then. All lanes that the first names are such that the others' are of
    /// their warps.
    pub(super) in_step: bool,
}

/// A line that nobody touched.
static FRESH_LINE: [Line; 1] = [Line { cells: [FRESH; LINE], in_step: true }];

impl Line {
    /// The cells, each with its own words.
    #[inline]
    pub(super) fn each(&mut self) -> &mut [Cell; LINE] {
        if self.in_step {
            self.part();
        }
        &mut self.cells
    }

    fn part(&mut self) {
        // Where nobody left a stamp the others' words are those of the first.
        if !self.is_fresh() {
            let first = self.cells[0];
            for (way, cell) in (0..).zip(&mut self.cells) {
                *cell = first.behind(way, cell.value);
            }
        }
        self.in_step = false;
    }

    /// A cell with its own words.
    fn cell(&self, at: usize) -> Cell {
        let at = at % LINE;
        if self.in_step { self.cells[0].behind(at as u16, self.cells[at].value) } else { self.cells[at] }
    }

    /// Whether nobody touched it.
    fn is_fresh(&self) -> bool {
        let first = &self.cells[0];
        self.in_step
            && (first.write, first.read, first.foreign, first.may_write, first.tag) == (0, [0; 2], 0, 0, INITIAL)
    }
}

impl Cell {
    /// What the last write did: [`KEPT`] and so on, or 0.
    pub(super) const fn last_write(&self) -> u8 {
        self.flags & !(BY_WARP | STILL)
    }

    /// Whether nobody has written it, surely or perhaps.
    pub(super) const fn is_as_before(&self) -> bool {
        self.write == 0 && self.may_write == 0 && self.tag == INITIAL
    }

    /// The cell so many places behind this one on a line in step.
    const fn behind(&self, way: u16, value: i64) -> Self {
        Self {
            value,
            writer: self.writer.wrapping_add(way),
            reader: [self.reader[0].wrapping_add(way), self.reader[1].wrapping_add(way)],
            foreign_reader: self.foreign_reader.wrapping_add(way),
            ..*self
        }
    }
}

/// Lines in one piece of memory.
type Shelf = Vec<Line>;

thread_local! {
    /// Empty shelves that nobody uses.
    static SPARE: RefCell<Vec<Shelf>> = const { RefCell::new(Vec::new()) };
}

/// Most shelves that wait for their next use: together less than a megabyte.
const SPARES: usize = 160;

/// The cells of one object, made as they are touched: a line at a time, since lanes that walk along columns touch one
/// cell of each page, and a page of cells is five kilobytes.
#[derive(Default)]
pub(super) struct Cells {
    near: Vec<u32>,
    far: FxHashMap<u64, u32>,
    /// The lines of each page; numbered from 1, 0 for none.
    pages: Vec<[u32; LINES]>,
    shelves: Vec<Shelf>,
    lines: usize,
}

/// The line of a cell.
pub(super) const fn line_of(cell: u64) -> u64 {
    cell >> LINE_BITS
}

impl Drop for Cells {
    fn drop(&mut self) {
        SPARE.with(|spare| {
            let mut spare = spare.borrow_mut();
            for mut shelf in self.shelves.drain(..).take(SPARES.saturating_sub(spare.len())) {
                shelf.clear();
                spare.push(shelf);
            }
        });
    }
}

impl Cells {
    /// Where the page with this number is kept; it is made where there is none.
    fn page(&mut self, number: u64) -> Option<usize> {
        let slot = if (number as usize) < NEAR_PAGES {
            if self.near.len() <= number as usize {
                self.near.resize(number as usize + 1, 0);
            }
            &mut self.near[number as usize]
        } else {
            self.far.entry(number).or_default()
        };
        if *slot == 0 {
            if self.pages.len() >= MAX_PAGES {
                return None;
            }
            self.pages.push([0; LINES]);
            *slot = self.pages.len() as u32;
        }
        Some(*slot as usize - 1)
    }

    /// Where the line with this number is kept; it is made where there is none.
    pub(super) fn line(&mut self, number: u64) -> Option<usize> {
        let page = self.page(number / LINES as u64)?;
        let slot = &mut self.pages[page][number as usize % LINES];
        if *slot == 0 {
            let shelf = self.lines / SHELF;
            if shelf == self.shelves.len() {
                let spare = SPARE.with(|spare| spare.borrow_mut().pop());
                self.shelves.push(spare.unwrap_or_else(|| Vec::with_capacity(SHELF)));
            }
            self.shelves[shelf].extend_from_slice(&FRESH_LINE);
            self.lines += 1;
            *slot = self.lines as u32;
        }
        Some(*slot as usize - 1)
    }

    /// The line with this number; it is made where there is none.
    pub(super) fn whole_line(&mut self, number: u64) -> Option<&mut Line> {
        let line = self.line(number)?;
        self.shelves.get_mut(line / SHELF)?.get_mut(line % SHELF)
    }

    /// A cell of a line that [`Self::line`] gave.
    pub(super) fn on_line(&mut self, line: usize, cell: u64) -> Option<&mut Cell> {
        self.shelves.get_mut(line / SHELF)?.get_mut(line % SHELF)?.each().get_mut(cell as usize % LINE)
    }

    /// The cell with this number.
    pub(super) fn at(&mut self, cell: u64) -> Option<&mut Cell> {
        let line = self.line(line_of(cell))?;
        self.on_line(line, cell)
    }

    /// The cell, where something touched it or its neighbours.
    pub(super) fn peek(&self, cell: u64) -> Option<Cell> {
        let number = cell >> PAGE_BITS;
        let slot = if (number as usize) < NEAR_PAGES {
            self.near.get(number as usize).copied().unwrap_or_default()
        } else {
            self.far.get(&number).copied().unwrap_or_default()
        };
        let page = self.pages.get((slot as usize).checked_sub(1)?)?;
        let line = (page[line_of(cell) as usize % LINES] as usize).checked_sub(1)?;
        Some(self.shelves.get(line / SHELF)?.get(line % SHELF)?.cell(cell as usize))
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.near.clear();
        self.far.clear();
        self.pages.clear();
        self.shelves.iter_mut().for_each(Vec::clear);
        self.lines = 0;
    }

    /// Cells of half the size; each half says of itself what the whole said, but for the value.
    pub(super) fn halve(&mut self) {
        let mut finer = Self::default();
        let near = self.near.iter().enumerate().map(|(number, &slot)| (number as u64, slot));
        let mut all: Vec<(u64, u32)> = near.chain(self.far.iter().map(|(&number, &slot)| (number, slot))).collect();
        all.sort_unstable();
        for (number, slot) in all {
            let Some(page) = (slot as usize).checked_sub(1).and_then(|page| self.pages.get(page)) else { continue };
            // Pages that nothing is in count as well.
            for half in 0..2 {
                finer.page((number << 1) | half);
            }
            for (place, line) in page.iter().enumerate() {
                let Some(line) = (*line as usize).checked_sub(1) else { continue };
                let Some(old) = self.shelves.get_mut(line / SHELF).and_then(|shelf| shelf.get_mut(line % SHELF)) else {
                    continue;
                };
                let fresh = old.is_fresh();
                let number = (number << (PAGE_BITS - LINE_BITS)) | place as u64;
                for (half, old) in (0..).zip(old.each().chunks(LINE / 2)) {
                    let Some(line) = finer.whole_line((number << 1) | half).filter(|_| !fresh) else { continue };
                    for (at, cell) in line.each().iter_mut().enumerate() {
                        *cell = old[at / 2];
                        if cell.tag != INITIAL {
                            cell.tag = super::value::UNKNOWN;
                        }
                    }
                }
            }
        }
        *self = finer;
    }
}
