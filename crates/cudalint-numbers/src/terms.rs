//! The terms of a polynomial: few, so that a sorted list holds them.

/// Sorted products of factors with their coefficients, in the order of the products, without zeros. The empty product is
/// the constant term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Terms<F> {
    list: Vec<(Vec<F>, i64)>,
}

impl<F> Default for Terms<F> {
    fn default() -> Self {
        Self { list: Vec::new() }
    }
}

impl<F: Clone + Ord> Terms<F> {
    /// One product.
    pub fn one(product: Vec<F>, coefficient: i64) -> Self {
        Self { list: if coefficient == 0 { Vec::new() } else { vec![(product, coefficient)] } }
    }

    /// The sum of such products; `None` when a coefficient runs over.
    pub fn sum(mut products: Vec<(Vec<F>, i64)>) -> Option<Self> {
        products.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut list: Vec<(Vec<F>, i64)> = Vec::with_capacity(products.len());
        for (product, coefficient) in products {
            match list.last_mut() {
                Some((last, sum)) if *last == product => *sum = sum.checked_add(coefficient)?,
                _ => list.push((product, coefficient)),
            }
        }
        list.retain(|(_, coefficient)| *coefficient != 0);
        Some(Self { list })
    }

    /// `self + factor * other`; `None` when a coefficient runs over.
    pub fn plus_times(&self, other: &Self, factor: i64) -> Option<Self> {
        let mut list = Vec::with_capacity(self.list.len() + other.list.len());
        let mut left = self.list.iter().peekable();
        for (product, coefficient) in &other.list {
            while let Some(before) = left.next_if(|(known, _)| known < product) {
                list.push(before.clone());
            }
            let added = coefficient.checked_mul(factor)?;
            let here = left.next_if(|(known, _)| known == product).map_or(0, |(_, known)| *known);
            let sum = here.checked_add(added)?;
            if sum != 0 {
                list.push((product.clone(), sum));
            }
        }
        list.extend(left.cloned());
        Some(Self { list })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none: the number 0.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The coefficient of a product.
    pub fn get(&self, product: &[F]) -> Option<&i64> {
        let at = self.list.binary_search_by(|(known, _)| known.as_slice().cmp(product)).ok()?;
        self.list.get(at).map(|(_, coefficient)| coefficient)
    }

    /// Products with their coefficients.
    pub fn iter(&self) -> impl Iterator<Item = (&Vec<F>, &i64)> {
        self.list.iter().map(|(product, coefficient)| (product, coefficient))
    }

    /// Products.
    pub fn keys(&self) -> impl Iterator<Item = &Vec<F>> {
        self.list.iter().map(|(product, _)| product)
    }

    /// Products with their coefficients, to be changed; what becomes 0 has to be taken out.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&Vec<F>, &mut i64)> {
        self.list.iter_mut().map(|(product, coefficient)| (&*product, coefficient))
    }

    /// Takes a product out.
    pub(crate) fn remove(&mut self, product: &[F]) {
        if let Ok(at) = self.list.binary_search_by(|(known, _)| known.as_slice().cmp(product)) {
            self.list.remove(at);
        }
    }
}
