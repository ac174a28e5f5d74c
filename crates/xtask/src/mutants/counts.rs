//! How many mutants were found, and how surely.

/// Mutants, and how they were found.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    pub all: usize,
    pub definite: usize,
    pub likely: usize,
    /// Without a finding, and followed in every step.
    pub harmless: usize,
}

impl Counts {
    pub fn add(&mut self, other: Self) {
        self.all += other.all;
        self.definite += other.definite;
        self.likely += other.likely;
        self.harmless += other.harmless;
    }

    /// How one mutant was found.
    pub const fn found(self) -> &'static str {
        match (self.definite, self.likely) {
            (1.., _) => "definite",
            (_, 1..) => "likely",
            _ => "missed",
        }
    }

    pub fn print(self, what: &str) {
        let share = |part: usize| if self.all == 0 { 0.0 } else { 100.0 * part as f64 / self.all as f64 };
        let Self { all, definite, likely, harmless } = self;
        let harmful = all - harmless;
        let of_harmful = if harmful == 0 { 0.0 } else { 100.0 * definite as f64 / harmful as f64 };
        println!(
            "{what}: {all} mutants, {definite} definite ({:.0} %), {likely} likely ({:.0} %); {harmless} harmless, \
             {of_harmful:.0} % definite of the others",
            share(definite),
            share(likely)
        );
    }
}
