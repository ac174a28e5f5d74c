//! What a program with watchpoints wrote: launches, allocations and accesses, in the order of the host.

/// A log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// Launches, in order.
    pub launches: Vec<LoggedLaunch>,
    /// Accesses, those of the threads that the finding names first within a launch.
    pub accesses: Vec<Logged>,
    /// Device memory that the program allocated.
    pub allocations: Vec<Allocation>,
    /// Why nothing more was logged from some point on.
    pub off: Option<String>,
    /// Accesses that were made and not written down, where that is known.
    pub lost: u64,
    /// Lines that could not be read.
    pub unreadable: usize,
}

/// A launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedLaunch {
    /// From 1.
    pub number: u32,
    /// Blocks along x, y, z.
    pub grid: [u64; 3],
    /// Threads of a block along x, y, z.
    pub block: [u64; 3],
    /// The status of waiting for its end, once it has ended.
    pub status: Option<i32>,
    /// Accesses of it that were made and not written down, where that is known.
    pub lost: u64,
}

/// Device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// First byte.
    pub base: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Launches before it.
    pub from: u32,
    /// Launches before its end; none while it lives.
    pub until: Option<u32>,
}

/// Where an access went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Memory {
    /// Global memory.
    Global,
    /// The block's shared memory; addresses are offsets in it.
    Shared,
    /// Constant memory and the like.
    Other,
}

/// A logged access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Number of its site in the copy.
    pub site: u32,
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes.
    pub writes: bool,
    /// Whether an atomic function made it.
    pub atomic: bool,
    /// Where it went.
    pub memory: Memory,
    /// First byte.
    pub address: u64,
    /// Size in bytes.
    pub size: u32,
    /// First byte of the object that the source names, or what the pointer that it names holds; 0 for none.
    pub base: u64,
    /// That object's size in bytes; 0 where it is not known.
    pub extent: u64,
    /// Block index.
    pub block: [u64; 3],
    /// Thread index.
    pub thread: [u64; 3],
    /// Barriers of the block that the thread has passed in this launch.
    pub interval: u32,
    /// Waits for lanes since then, twice their number; odd when one of them was not for all lanes.
    pub lanes: u32,
    /// Number of the kernel in the copy, from 1; 0 for one of another file.
    pub kernel: u32,
    /// Number of the launch.
    pub launch: u32,
}

impl Log {
    /// Reads a log. Lines that make no sense, as the last one of a program that was ended, are counted and passed over.
    pub fn read(text: &str) -> Self {
        let mut log = Self::default();
        for line in text.lines() {
            if log.line(line).is_none() {
                log.unreadable += 1;
            }
        }
        log
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let (word, rest) = line.split_once(' ')?;
        let mut fields = rest.split(' ');
        match word {
            "launch" => {
                let numbers = numbers::<7>(&mut fields)?;
                let number = u32::try_from(numbers[0]).ok()?;
                let grid = [numbers[1], numbers[2], numbers[3]];
                let block = [numbers[4], numbers[5], numbers[6]];
                self.launches.push(LoggedLaunch { number, grid, block, status: None, lost: 0 });
            }
            "end" => {
                let number: u32 = fields.next()?.parse().ok()?;
                let status = fields.next()?.parse().ok()?;
                let seen: u64 = fields.next()?.parse().ok()?;
                let launch = self.launches.iter_mut().rev().find(|launch| launch.number == number)?;
                launch.status = Some(status);
                let kept = self.accesses.iter().rev().take_while(|access| access.launch == number).count() as u64;
                launch.lost = if status == 0 { seen.saturating_sub(kept) } else { 0 };
                self.lost += launch.lost;
            }
            "allocation" => {
                let base = address(fields.next()?)?;
                let bytes = fields.next()?.parse().ok()?;
                self.allocations.push(Allocation { base, bytes, from: self.launched(), until: None });
            }
            "free" => {
                let base = address(fields.next()?)?;
                let launched = self.launched();
                let lives = |allocation: &&mut Allocation| allocation.base == base && allocation.until.is_none();
                if let Some(allocation) = self.allocations.iter_mut().rev().find(lives) {
                    allocation.until = Some(launched);
                }
            }
            "access" => {
                let access = logged(&mut fields)?;
                fields.next().is_none().then_some(())?;
                self.accesses.push(access);
            }
            "off" => self.off = Some(rest.to_owned()),
            _ => return None,
        }
        Some(())
    }

    fn launched(&self) -> u32 {
        self.launches.last().map_or(0, |launch| launch.number)
    }

    /// The launch of an access.
    pub fn launch_of(&self, access: &Logged) -> Option<&LoggedLaunch> {
        self.launches.iter().find(|launch| launch.number == access.launch)
    }

    /// The object that an access is meant for, as first byte and size: the one that the source names, else the allocation
    /// that its pointer points into. None where neither is known.
    pub fn object_of(&self, access: &Logged) -> Option<(u64, u64)> {
        if access.extent != 0 && (access.base != 0 || access.memory == Memory::Shared) {
            return Some((access.base, access.extent));
        }
        if access.memory != Memory::Global || access.base == 0 {
            return None;
        }
        let lives = |allocation: &&Allocation| {
            allocation.from < access.launch && allocation.until.is_none_or(|until| until >= access.launch)
        };
        self.allocations
            .iter()
            .filter(lives)
            .find(|allocation| {
                allocation.base <= access.base && access.base - allocation.base <= allocation.bytes.saturating_sub(1)
            })
            .map(|allocation| (allocation.base, allocation.bytes))
    }
}

impl Logged {
    /// Whether two accesses share a byte of memory.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.launch == other.launch
            && self.memory == other.memory
            && (self.memory != Memory::Shared || self.block == other.block)
            && self.address < other.address.saturating_add(u64::from(other.size))
            && other.address < self.address.saturating_add(u64::from(self.size))
    }

    /// Whether two accesses are of one thread.
    pub fn same_thread(&self, other: &Self) -> bool {
        self.block == other.block && self.thread == other.thread
    }
}

fn logged<'t>(fields: &mut impl Iterator<Item = &'t str>) -> Option<Logged> {
    let [site, kind, memory] = numbers::<3>(fields)?;
    let at = address(fields.next()?)?;
    let size = fields.next()?.parse().ok()?;
    let base = address(fields.next()?)?;
    let extent = fields.next()?.parse().ok()?;
    let [bx, by, bz, tx, ty, tz, interval, lanes, kernel, launch] = numbers::<10>(fields)?;
    Some(Logged {
        site: u32::try_from(site).ok()?,
        reads: kind & 1 != 0 || kind == 4,
        writes: kind & 2 != 0 || kind == 4,
        atomic: kind == 4,
        memory: match memory {
            0 => Memory::Global,
            1 => Memory::Shared,
            _ => Memory::Other,
        },
        address: at,
        size,
        base,
        extent,
        block: [bx, by, bz],
        thread: [tx, ty, tz],
        interval: u32::try_from(interval).ok()?,
        lanes: u32::try_from(lanes).ok()?,
        kernel: u32::try_from(kernel).ok()?,
        launch: u32::try_from(launch).ok()?,
    })
}

fn numbers<'t, const N: usize>(fields: &mut impl Iterator<Item = &'t str>) -> Option<[u64; N]> {
    let mut found = [0; N];
    for number in &mut found {
        *number = fields.next()?.parse().ok()?;
    }
    Some(found)
}

fn address(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::{Log, Memory};

    const TEXT: &str = "allocation 7f0000000000 4000
launch 1 4 1 1 256 1 1
access 0 3 0 7f0000000000 4 7f0000000000 0 0 0 0 1 0 0 2 4 1 1
access 1 4 1 10 4 0 0 0 0 0 1 0 0 2 4 1 1
end 1 0 5
free 7f0000000000
launch 2 1 1 1 32 1 1
access 0 1 0 7f0000000000 4 7f0000000000 0 0 0 0 1 0 0 0 0 1 2
";

    #[test]
    fn a_log_is_read_in_order() {
        let log = Log::read(TEXT);
        assert_eq!(log.unreadable, 0);
        assert_eq!(log.launches.len(), 2);
        assert_eq!(log.launches[0].grid, [4, 1, 1]);
        assert_eq!(log.launches[0].status, Some(0));
        assert_eq!(log.launches[1].status, None);
        assert_eq!(log.lost, 3);
        let update = &log.accesses[0];
        assert!(update.reads && update.writes && !update.atomic);
        assert_eq!((update.interval, update.lanes, update.kernel), (2, 4, 1));
        let atomic = &log.accesses[1];
        assert!(atomic.atomic && atomic.writes);
        assert_eq!((atomic.memory, atomic.address), (Memory::Shared, 0x10));
    }

    #[test]
    fn an_allocation_lives_until_it_is_freed() {
        let log = Log::read(TEXT);
        assert_eq!(log.object_of(&log.accesses[0]), Some((0x7f00_0000_0000, 4000)));
        assert_eq!(log.object_of(&log.accesses[2]), None);
    }

    #[test]
    fn a_line_that_was_cut_off_is_passed_over() {
        for end in 0..TEXT.len() {
            let log = Log::read(&TEXT[..end]);
            assert!(log.unreadable <= 1, "{end}");
            assert!(log.accesses.iter().all(|access| access.site < 2));
        }
        assert_eq!(Log::read("access 0 3 0 zz 4 0 0 0 0 0 0 0 0 0 0 0 1\nnoise\n\n").unreadable, 3);
        assert_eq!(
            Log::read("off launches of graphs are not followed\n").off.as_deref(),
            Some("launches of graphs are not followed")
        );
    }
}
