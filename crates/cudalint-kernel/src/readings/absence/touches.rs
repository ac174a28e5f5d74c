//! Accesses to memory that threads share, and barriers between them.

use super::state::{Access, Base, Refusal, State, Touch, Value};
use super::walk::{Walked, Walker};
use crate::code::{ObjectId, ObjectSpace};
use crate::report::Site;

impl Walker<'_> {
    /// The object that an id means: all dynamic arrays are one.
    pub fn base(&self, object: ObjectId) -> Base {
        let dynamic = self.code.objects.get(object).is_some_and(|it| it.space == ObjectSpace::DynamicShared);
        Base::Object(if dynamic { self.dynamic.unwrap_or(object) } else { object })
    }

    pub fn is_shared(&self, base: Base) -> bool {
        let Base::Object(object) = base else { return false };
        let space = self.code.objects.get(object).map(|object| object.space);
        matches!(space, Some(ObjectSpace::Shared | ObjectSpace::DynamicShared))
    }

    /// Nothing is said of an object.
    pub fn doubt(&mut self, base: Base, cause: &'static str, site: Site) {
        if self.probing == 0 {
            self.doubtful.entry(base).or_insert(Refusal { cause, site });
        }
    }

    /// Nothing is said of dynamic shared memory.
    pub fn doubt_dynamic(&mut self, cause: &'static str, site: Site) {
        if let Some(object) = self.dynamic {
            self.doubt(Base::Object(object), cause, site);
        }
    }

    /// Notes an access.
    pub fn touch(&mut self, address: &Value, how: Touch, site: Site, state: &mut State) -> Walked<()> {
        if state.dead {
            return Ok(());
        }
        let Value::Address(base, offset) = address else {
            return Err(Refusal { cause: "an address that is not followed", site });
        };
        match base {
            Base::Unknown => return Err(Refusal { cause: "a pointer of which nobody knows where it leads", site }),
            Base::Loaded => {
                self.loaded.get_or_insert(site);
                return Ok(());
            }
            Base::Local => return Ok(()),
            Base::Object(_) | Base::Parameter(..) => {}
        }
        let Some(size) = how.size.filter(|size| *size > 0) else {
            self.doubt(*base, "an access of unknown size", site);
            return Ok(());
        };
        if self.probing > 0 {
            return Ok(());
        }
        let access = Access {
            base: *base,
            offset: offset.clone(),
            size,
            element: how.element,
            kind: how.kind,
            path: state.path.clone(),
            site,
        };
        let next = self.accesses.len();
        let index = *self.known.entry(access.clone()).or_insert(next);
        if index == next {
            self.accesses.push(access);
        }
        self.log.push(index);
        state.open.push(index);
        Ok(())
    }

    /// Notes that a value is stored where it can be read again.
    pub fn store(&mut self, value: &Value, site: Site) {
        match value {
            Value::Address(base, _) if self.is_shared(*base) => {
                self.stored.get_or_insert(site);
            }
            Value::Address(base @ Base::Parameter(..), _) => {
                self.doubt(*base, "its address is kept in memory", site);
            }
            Value::Parts(parts) => parts.iter().for_each(|part| self.store(part, site)),
            _ => {}
        }
    }

    /// All threads meet.
    pub fn barrier(&mut self, site: Site, state: &mut State) -> Walked<()> {
        if self.divergent > 0 {
            return Err(Refusal { cause: "a barrier behind a condition that is not the same for all threads", site });
        }
        let open = std::mem::take(&mut state.open);
        self.close(&open);
        state.crossed = true;
        state.dead |= state.stops;
        Ok(())
    }
}
