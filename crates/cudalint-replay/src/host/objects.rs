//! Objects of a walk by number, and sets of them.

/// An object of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjId(pub u32);

/// A set of objects: a bit for each, since walks ask for membership at every pointer that they follow.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjSet {
    words: Vec<u64>,
    /// Whether objects below a number have been added since somebody asked: the number, if any is to be watched.
    pub watched: u32,
    pub grown: bool,
}

impl ObjSet {
    /// Adds an object; whether it is new.
    pub fn insert(&mut self, id: ObjId) -> bool {
        let (word, bit) = place(id);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let Some(slot) = self.words.get_mut(word) else { return false };
        let new = *slot & bit == 0;
        *slot |= bit;
        self.grown |= new && id.0 < self.watched;
        new
    }

    /// Whether an object is in it.
    pub fn contains(&self, id: ObjId) -> bool {
        let (word, bit) = place(id);
        self.words.get(word).is_some_and(|slot| slot & bit != 0)
    }

    /// Takes an object out; whether it was there.
    pub fn remove(&mut self, id: ObjId) -> bool {
        let (word, bit) = place(id);
        let Some(slot) = self.words.get_mut(word) else { return false };
        let there = *slot & bit != 0;
        *slot &= !bit;
        there
    }

    /// The objects in order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = ObjId> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                rest &= rest.checked_sub(1)?;
                Some(ObjId(at as u32 * u64::BITS + bit))
            })
        })
    }

    /// Takes all objects out, and keeps the room.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }
}

impl Extend<ObjId> for ObjSet {
    fn extend<T: IntoIterator<Item = ObjId>>(&mut self, objects: T) {
        for object in objects {
            self.insert(object);
        }
    }
}

const fn place(id: ObjId) -> (usize, u64) {
    ((id.0 / u64::BITS) as usize, 1 << (id.0 % u64::BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_come_out_in_order_and_once() {
        let mut set = ObjSet::default();
        set.extend([200, 3, 64, 3, 63].map(ObjId));
        assert_eq!(set.iter().map(|id| id.0).collect::<Vec<_>>(), [3, 63, 64, 200]);
        assert!(set.contains(ObjId(64)) && !set.contains(ObjId(65)) && !set.contains(ObjId(100_000)));
        assert!(!set.insert(ObjId(200)) && set.insert(ObjId(201)));
        assert!(set.remove(ObjId(64)) && !set.remove(ObjId(64)) && !set.contains(ObjId(64)));
        set.clear();
        assert_eq!(set.iter().count(), 0);
    }
}
