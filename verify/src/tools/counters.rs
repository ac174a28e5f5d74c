//! Counters of a profiler by instruction, as Nsight Compute's source view writes them: a table a function of a file, whose
//! rows are lines of the source, each followed by its instructions.

/// What one instruction of a kernel came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The file that it was compiled from, as the compiler named it.
    pub file: String,
    /// The kernel, with its parameters.
    pub kernel: String,
    /// The line in that file, from 1.
    pub line: u32,
    /// The instruction in machine code.
    pub code: String,
    /// Warps that executed it.
    pub executed: u64,
    /// Sectors of global memory that it asked for, and those that would do.
    pub sectors: (u64, u64),
    /// Passes over shared memory that it took, and those that would do.
    pub passes: (u64, u64),
}

impl Counted {
    /// Its name, without what it works on: `LDG.E`.
    pub fn operation(&self) -> &str {
        self.code.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or("")
    }

    /// Whether it computes in double precision.
    pub fn is_double(&self) -> bool {
        let operation = self.operation();
        let name = operation.split('.').next().unwrap_or("");
        matches!(name, "DADD" | "DMUL" | "DFMA" | "DSETP" | "DMNMX")
            || (name.starts_with("F2") || name.starts_with("I2")) && operation.split('.').any(|part| part == "F64")
    }
}

/// What a multiprocessor held of one launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Held {
    /// The kernel, with its parameters.
    pub kernel: String,
    /// Threads of a block.
    pub threads: u64,
    /// Blocks of the grid.
    pub blocks: u64,
    /// Warps that were there on average while the multiprocessor worked.
    pub warps: f64,
    /// Warps that it could hold.
    pub most: f64,
}

impl Held {
    /// Threads that were there on average, and those that there could be.
    pub fn resident(&self) -> (f64, f64) {
        let warps_a_block = self.threads.div_ceil(WARP).max(1);
        (self.warps * self.threads as f64 / warps_a_block as f64, self.most * WARP as f64)
    }
}

/// Threads of a warp.
const WARP: u64 = 32;

/// The profiler's names for what is known of a launch: threads of a block, blocks, warps that were there, those that there could
/// be by the launch's sizes, and what share of all that a multiprocessor holds these are, in hundredths.
const OF_LAUNCH: [&str; 5] = [
    "launch__block_size",
    "launch__grid_size",
    "sm__warps_active.avg.per_cycle_active",
    "sm__maximum_warps_avg_per_active_cycle",
    "sm__maximum_warps_per_active_cycle_pct",
];

/// The metrics of a report's launches, as the profiler's raw view writes them: names, units, then a row a launch.
pub fn launches(text: &str) -> Vec<Held> {
    let rows: Vec<Vec<String>> = text.lines().map(cells).filter(|cells| cells.len() > 1).collect();
    let Some(at) = rows.iter().position(|row| row.iter().any(|cell| cell == "Kernel Name")) else {
        return Vec::new();
    };
    let names = rows.get(at).map_or(&[][..], Vec::as_slice);
    let column = |name: &str| names.iter().position(|cell| cell == name);
    let (Some(kernel), wanted) = (column("Kernel Name"), OF_LAUNCH.map(column)) else { return Vec::new() };
    let cell = |row: &[String], at: usize| row.get(at).map(|cell| cell.replace(',', ""));
    let number = |row: &[String], at: Option<usize>| cell(row, at?)?.trim().parse::<f64>().ok();
    let of = |row: &Vec<String>| {
        let [threads, blocks, warps, most, share] = wanted.map(|at| number(row, at));
        Some(Held {
            kernel: row.get(kernel)?.clone(),
            threads: threads? as u64,
            blocks: blocks? as u64,
            warps: warps?,
            most: most? * 100.0 / share.filter(|share| *share > 0.0)?,
        })
    };
    rows.iter().skip(at + 1).filter_map(of).collect()
}

/// The columns that are read, by their names.
#[derive(Default)]
struct Columns {
    executed: Option<usize>,
    sectors: [Option<usize>; 2],
    passes: [Option<usize>; 2],
}

/// The column of a row's number: behind the line, its text and the address there is the instruction.
const CODE: usize = 3;

/// Reads the view.
pub fn read(text: &str) -> Vec<Counted> {
    let mut found = Vec::new();
    let (mut file, mut kernel, mut line) = (String::new(), String::new(), 0);
    let mut columns = Columns::default();
    for row in text.lines() {
        let cells = cells(row);
        let cell = |at: usize| cells.get(at).map_or("", String::as_str);
        match cell(0) {
            "File Path" | "File Name" => cell(1).clone_into(&mut file),
            "Function Name" | "Kernel Name" => cell(1).clone_into(&mut kernel),
            "Line No" => {
                let column = |name: &str| cells.iter().position(|cell| cell == name);
                columns = Columns {
                    executed: column("Instructions Executed"),
                    sectors: ["L2 Theoretical Sectors Global", "L2 Theoretical Sectors Global Ideal"].map(column),
                    passes: ["L1 Wavefronts Shared", "L1 Wavefronts Shared Ideal"].map(column),
                };
            }
            number if cell(2).starts_with("0x") => {
                // The first instruction of a line may stand on its row.
                line = number.parse().unwrap_or(line);
                let count = |column: Option<usize>| column.map_or(0, |at| number_of(cell(at)));
                found.push(Counted {
                    file: file.clone(),
                    kernel: kernel.clone(),
                    line,
                    code: cell(CODE).trim().to_owned(),
                    executed: count(columns.executed),
                    sectors: columns.sectors.map(count).into(),
                    passes: columns.passes.map(count).into(),
                });
            }
            number => line = number.parse().unwrap_or(line),
        }
    }
    found
}

/// `1,024` and `1024`; 0 for what is no number.
fn number_of(cell: &str) -> u64 {
    cell.replace(',', "").parse().unwrap_or(0)
}

/// The cells of a row of comma-separated values; none for another line.
fn cells(row: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut chars = row.chars().peekable();
    while chars.next() == Some('"') {
        let mut cell = String::new();
        while let Some(c) = chars.next() {
            match c {
                '"' if chars.peek() == Some(&'"') => {
                    chars.next();
                    cell.push('"');
                }
                '"' => break,
                c => cell.push(c),
            }
        }
        found.push(cell);
        if chars.next() != Some(',') {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Counted, launches, read};

    const VIEW: &str = r##"==PROF== Disconnected
"File Path","/x/a.cu"
"Function Name","transpose(const float *, float *, int)"
"Line No","Source","Address","Source","# Samples","Instructions Executed","L2 Theoretical Sectors Global Excessive","L2 Theoretical Sectors Global","L2 Theoretical Sectors Global Ideal"
"6","to[x * n + y] = from[""y""];","-","-","3","65536","0","9","9"
"","","0x7fba677ac320","      LDG.E R3, desc[UR4][R2.64]","4","32768","0","131072","131072"
"","","...","...","-","-","-","-","-"
"","","0x7fba677ac350","@!P0  STG.E desc[UR4][R4.64], R3","661","32768","917504","1,048,576","131072"
"7","}","0x7fba677ac360","      EXIT","0","32768","0","0","0"
"##;

    #[test]
    fn instructions_are_read_with_their_lines() {
        let found = read(VIEW);
        let short = |it: &Counted| (it.line, it.operation().to_owned(), it.executed, it.sectors);
        let expected = [
            (6, "LDG.E".to_owned(), 32768, (131_072, 131_072)),
            (6, "STG.E".to_owned(), 32768, (1_048_576, 131_072)),
            (7, "EXIT".to_owned(), 32768, (0, 0)),
        ];
        assert_eq!(found.iter().map(short).collect::<Vec<_>>(), expected);
        assert!(
            found.iter().all(|it| it.file == "/x/a.cu" && it.kernel.starts_with("transpose(") && it.passes == (0, 0))
        );
    }

    #[test]
    fn double_precision_is_known_by_its_instructions() {
        let is = |code: &str| Counted { code: code.to_owned(), ..Counted::default() }.is_double();
        assert!(is("DFMA R2, R2, R4, R6") && is("@P0 F2F.F64.F32 R2, R5") && is("F2F.F32.F64 R2, R4"));
        assert!(!is("FFMA R2, R2, R4, R6") && !is("F2I.TRUNC.NTZ R0, R1") && !is("DEPBAR.LE SB0") && !is(""));
    }

    #[test]
    fn what_a_multiprocessor_holds_is_read_by_launch() {
        let view = r#"==PROF== Disconnected
"ID","Kernel Name","Block Size","launch__block_size","launch__grid_size","sm__maximum_warps_avg_per_active_cycle","sm__maximum_warps_per_active_cycle_pct","sm__warps_active.avg.per_cycle_active"
"","","","","","warp","%","warp"
"0","add(float *)","(8, 1, 1)","8","131,072","32","50","30.5"
"1","other()","(64, 1, 1)","64","n/a","32","50","30.5"
"#;
        let found = launches(view);
        let told: Vec<_> = found.iter().map(|it| (it.kernel.as_str(), it.threads, it.blocks, it.resident())).collect();
        assert_eq!(told, [("add(float *)", 8, 131_072, (244.0, 2048.0))]);
        assert!(launches("\"Kernel Name\",\"x\"\n\"a\"").is_empty() && launches("").is_empty());
    }

    #[test]
    fn any_text_is_read() {
        assert!(read("\"a\n\"\"\n\n,,,\n\"Line No\"\n\"x\",\"\",\"0\"").is_empty());
    }
}
