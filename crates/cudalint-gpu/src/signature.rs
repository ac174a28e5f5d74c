//! What a kernel takes, as the compiler itself sees it: a table that is put behind the kernel's source and read back from
//! the PTX. Without it a launch would have to trust the caller with sizes that the driver reads without asking.

/// What stands behind a pointer parameter, all levels of pointers taken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `float` or `double`.
    Floating,
    /// Integers, characters and truth values.
    Integer,
    /// Anything else, and parameters that are no pointers.
    Other,
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its own size in bytes: that of the pointer, for one.
    pub size: usize,
    /// What it points to.
    pub kind: Kind,
    /// Size in bytes of what it points to; 0 for [`Kind::Other`].
    pub bytes: usize,
}

/// The variable that holds the table: how many parameters, then for each its size, kind and target's size.
pub(crate) const TABLE: &str = "cudalint_table";

/// The lines that declare the table for a kernel. Every name has a prefix, since the user's macros are in force here.
pub(crate) fn lines(kernel: &str) -> String {
    include_str!("signature.cu").replace("KERNEL", kernel)
}

/// The parameters, read from the PTX of a program that ends with [`lines`]. None when there is no table that makes sense.
pub(crate) fn read(ptx: &str) -> Option<Vec<Parameter>> {
    let (_, behind) = ptx.split_once(&format!(".b8 {TABLE}["))?;
    let (length, behind) = behind.split_once(']')?;
    // A table of zeros alone, of a kernel that takes nothing, has no list.
    let (list, _) = behind.split_once(';')?;
    let list = list.trim_start().strip_prefix('=').unwrap_or_default();
    let mut bytes = list
        .trim()
        .trim_start_matches('{')
        .trim_end_matches('}')
        .split(',')
        .filter(|number| !number.trim().is_empty())
        .map(|number| number.trim().parse::<u8>().ok())
        .collect::<Option<Vec<u8>>>()?;
    // Zeros at the end are left out.
    bytes.resize(length.trim().parse::<usize>().ok().filter(|length| *length >= bytes.len())?, 0);
    let numbers =
        bytes.chunks_exact(4).map(|word| word.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)));
    let numbers: Vec<usize> = numbers.collect();
    let (count, rows) = numbers.split_first()?;
    let parameters: Vec<Parameter> = rows
        .chunks_exact(3)
        .take(*count)
        .filter_map(|row| {
            let [size, kind, bytes] = *row else { return None };
            let kind = match kind {
                1 => Kind::Floating,
                2 => Kind::Integer,
                _ => Kind::Other,
            };
            Some(Parameter { size, kind, bytes })
        })
        .collect();
    (parameters.len() == *count).then_some(parameters)
}

#[cfg(test)]
mod tests {
    use super::{Kind, Parameter, read};

    #[test]
    fn the_table_is_read_from_ptx() {
        let ptx = ".version 9.0\n.global .align 4 .b8 cudalint_table[40] = {2, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 4, 0, \
                   0, 0, 16, 1};\n.entry k()";
        let wanted = vec![
            Parameter { size: 8, kind: Kind::Floating, bytes: 4 },
            Parameter { size: 272, kind: Kind::Other, bytes: 0 },
        ];
        assert_eq!(read(ptx), Some(wanted));
        assert_eq!(read(".global .align 4 .b8 cudalint_table[16];\n.entry k()"), Some(Vec::new()));
    }

    #[test]
    fn what_is_no_table_gives_none() {
        assert_eq!(read(".global .align 4 .b8 cudalint_table[4] = {2, 0, 0, 0};"), None);
        assert_eq!(read(".global .align 4 .b8 cudalint_table[1] = {2, 0, 0, 0};"), None);
        assert_eq!(read(".global .align 4 .b8 cudalint_table[4]"), None);
        assert_eq!(read(".global .align 4 .b8 cudalint_table[4] = {2, x};"), None);
        assert_eq!(read(""), None);
    }
}
