//! One function of the catalogue: what its clauses say, and the row of the table as Rust.

use super::Defaults;
use super::vocabulary::{Read, capital, device_op, end, flag, number, python_op, returned, side, version};
use std::collections::HashMap;

/// What is said of a function.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) library: String,
    pub(super) section: String,
    pub(super) since: (u8, u8),
    /// As Rust.
    pub(super) until: Option<String>,
    pub(super) side: String,
    pub(super) returns: String,
    pub(super) role: Option<&'static str>,
    pub(super) gives: Option<String>,
    pub(super) flags: Vec<&'static str>,
    pub(super) params: Vec<String>,
    pub(super) outs: u16,
    pub(super) effects: Vec<String>,
}

impl Row {
    pub(super) fn new(defaults: &Defaults) -> Self {
        Self {
            library: defaults.library.clone(),
            section: defaults.section.clone(),
            since: defaults.since,
            until: None,
            side: defaults.side.clone(),
            returns: defaults.returns.clone(),
            role: None,
            gives: None,
            flags: defaults.flags.clone(),
            params: Vec::new(),
            outs: 0,
            effects: Vec::new(),
        }
    }

    /// The position of a parameter.
    pub(super) fn arg(&self, name: &str) -> Read<String> {
        if name == "return" {
            return Ok("Arg::RETURNED".to_owned());
        }
        let at = self.params.iter().position(|param| param.split('|').any(|known| known == name));
        at.map(|at| format!("Arg({at})")).ok_or_else(|| format!("no parameter is called `{name}`"))
    }

    /// One clause behind the colon.
    pub(super) fn clause(&mut self, clause: &str) -> Read<()> {
        let words: Vec<&str> = clause.split_whitespace().collect();
        let [first, rest @ ..] = words.as_slice() else { return Ok(()) };
        let arg = |at: usize| self.arg(rest.get(at).ok_or_else(|| format!("`{first}` wants more words"))?);
        let mut role = None;
        let effect = match *first {
            "host" | "device" | "both" | "open" if rest.is_empty() => {
                self.side = side(first)?;
                return Ok(());
            }
            "returns" => {
                self.returns = returned(&rest.join(" "))?;
                return Ok(());
            }
            "gives" => {
                self.gives = Some(number(&rest.join(" "))?);
                return Ok(());
            }
            "since" => {
                self.since = version(&rest.join(" "))?;
                return Ok(());
            }
            "until" => {
                self.until = Some(end(rest)?);
                return Ok(());
            }
            "starts" | "clears" | "peeks" | "settles" => {
                self.take_role(Some(match *first {
                    "starts" => "Launches",
                    "clears" => "Clears",
                    "peeks" => "Peeks",
                    _ => "Settles",
                }));
                return Ok(());
            }
            "blocks" => {
                role = Some("Synchronizes");
                "Waits(Work::Own)".to_owned()
            }
            "waits" | "polls" => {
                role = Some("Synchronizes");
                let work = match rest {
                    ["device"] => "Work::Device".to_owned(),
                    ["stream", stream] => format!("Work::Stream({})", self.arg(stream)?),
                    ["event", event] => format!("Work::Event({})", self.arg(event)?),
                    [] => "Work::Own".to_owned(),
                    _ => return Err(format!("what does `{clause}` wait for?")),
                };
                format!("{}({work})", if *first == "waits" { "Waits" } else { "Polls" })
            }
            "allocates" => {
                let [space, out, size @ ..] = rest else { return Err("allocates SPACE OUT SIZE".to_owned()) };
                let (holds, size) = match size {
                    ["zeroed", size @ ..] => ("Zeros", size),
                    ["filled", size @ ..] => ("Something", size),
                    size => ("Nothing", size),
                };
                let space = match *space {
                    // Where arrays of the package live.
                    "own" if self.library == "NumPy" => "Host",
                    "own" => "Device",
                    "host" => "Host",
                    "pinned" => "Pinned",
                    "device" => "Device",
                    "managed" => "Managed",
                    other => return Err(format!("no space is called `{other}`")),
                };
                let (out, size) = (self.arg(out)?, self.size(size)?.0);
                format!("Allocates {{ space: Space::{space}, out: {out}, size: {size}, holds: Holds::{holds} }}")
            }
            "frees" => format!("Frees({})", arg(0)?),
            "copies" => self.copies(rest)?,
            "sets" => {
                let (size, more) = self.size(rest.get(2..).unwrap_or_default())?;
                let unit = match more {
                    [] => 1,
                    ["unit", unit] => unit.parse::<u8>().map_err(|_| "a unit is a number of bytes")?,
                    _ => return Err(format!("`{}` is not understood", more.join(" "))),
                };
                format!("Sets {{ pointer: {}, value: {}, size: {size}, unit: {unit} }}", arg(0)?, arg(1)?)
            }
            "pins" => format!("Pins({})", arg(0)?),
            "unpins" => format!("Unpins({})", arg(0)?),
            "maps" => format!("Maps {{ out: {}, of: {} }}", arg(0)?, arg(1)?),
            "addresses" => format!("AddressOfSymbol {{ out: {}, symbol: {} }}", arg(0)?, arg(1)?),
            "launches" => {
                role = Some("Launches");
                self.launches(rest)?
            }
            "attribute" => {
                format!("SetsAttribute {{ kernel: {}, attribute: {}, value: {} }}", arg(0)?, arg(1)?, arg(2)?)
            }
            "finds-symbol" => format!("FindsSymbol({})", arg(0)?),
            "captures" => "Captures".to_owned(),
            "compiles" => format!("Compiles({})", arg(0)?),
            "adds-name" => format!("AddsName {{ program: {}, name: {} }}", arg(0)?, arg(1)?),
            "asks-name" => format!("AsksName {{ program: {}, name: {} }}", arg(0)?, arg(1)?),
            "captured" => "Captured".to_owned(),
            "resets" => "Resets".to_owned(),
            "records" => format!("Records {{ event: {}, stream: {} }}", arg(0)?, arg(1)?),
            "selects" => format!("SelectsDevice({})", arg(0)?),
            "orders" => format!("Orders {{ stream: {}, event: {} }}", arg(0)?, arg(1)?),
            "creates" | "destroys" => {
                let kind = rest.first().map(|kind| capital(kind)).unwrap_or_default();
                format!("{}(Handle::{kind}, {})", capital(first), arg(1)?)
            }
            "reads" | "writes" | "inputs" | "sends" | "receives" => {
                for param in rest {
                    let at = self.arg(param)?;
                    self.effects.push(format!("Effect::{}({at})", capital(first)));
                }
                return Ok(());
            }
            "op" => format!("Device({})", device_op(rest)?),
            "python" => format!("Python(PythonOp::{})", python_op(rest, |name| self.arg(name))?),
            word if rest.is_empty() => {
                let named = flag(word)?;
                self.flags.push(named);
                return Ok(());
            }
            _ => return Err(format!("`{clause}` is not understood")),
        };
        self.effects.push(format!("Effect::{effect}"));
        self.take_role(role);
        Ok(())
    }

    pub(super) fn take_role(&mut self, role: Option<&'static str>) {
        // Frees and resets wait, but not for that purpose.
        if role.is_some() && self.role != Some("Settles") {
            self.role = role;
        }
    }

    /// A size, and the words behind it.
    pub(super) fn size<'a>(&self, words: &'a [&'a str]) -> Read<(String, &'a [&'a str])> {
        Ok(match words {
            ["?", rest @ ..] => ("Size::Open".to_owned(), rest),
            ["all", whole, rest @ ..] => (format!("Size::Whole({})", self.arg(whole)?), rest),
            ["elements", shape, rest @ ..] => (format!("Size::Elements({})", self.arg(shape)?), rest),
            ["like", array, rest @ ..] => (format!("Size::Like({})", self.arg(array)?), rest),
            [width, "rows", rows, "stores", pitch, rest @ ..] => {
                let (width, rows, pitch) = (self.arg(width)?, self.arg(rows)?, self.arg(pitch)?);
                (format!("Size::Pitched {{ width: {width}, rows: {rows}, pitch: {pitch} }}"), rest)
            }
            [width, "rows", rows, "pitch", to, from, rest @ ..] => {
                let (width, rows, to, from) = (self.arg(width)?, self.arg(rows)?, self.arg(to)?, self.arg(from)?);
                (format!("Size::Rows {{ width: {width}, rows: {rows}, pitch: [{to}, {from}] }}"), rest)
            }
            [count, "*", size, rest @ ..] => {
                (format!("Size::Product({}, {})", self.arg(count)?, self.arg(size)?), rest)
            }
            [bytes, rest @ ..] => (format!("Size::Bytes({})", self.arg(bytes)?), rest),
            [] => return Err("a size is missing".to_owned()),
        })
    }

    pub(super) fn copies(&self, words: &[&str]) -> Read<String> {
        match words {
            ["described", by] => return Ok(format!("CopiesDescribed({}, Structure::Runtime)", self.arg(by)?)),
            ["described", by, how @ ("plane" | "volume")] => {
                return Ok(format!("CopiesDescribed({}, Structure::{})", self.arg(by)?, capital(how)));
            }
            [which @ ("to-symbol" | "from-symbol"), symbol, other, bytes, offset, kind] => {
                let [symbol, other, bytes, offset, kind] =
                    [symbol, other, bytes, offset, kind].map(|name| self.arg(name));
                return Ok(format!(
                    "CopiesSymbol {{ symbol: {}, other: {}, bytes: {}, offset: {}, kind: {}, to_symbol: {} }}",
                    symbol?,
                    other?,
                    bytes?,
                    offset?,
                    kind?,
                    *which == "to-symbol"
                ));
            }
            _ => {}
        }
        let [to, from, rest @ ..] = words else { return Err("copies TO FROM SIZE DIRECTION".to_owned()) };
        let (size, direction) = self.size(rest)?;
        let direction = match direction {
            ["by", kind] => format!("Direction::By({})", self.arg(kind)?),
            ["anywhere"] => "Direction::Any".to_owned(),
            ["to-device"] => "Direction::HostToDevice".to_owned(),
            ["to-host"] => "Direction::DeviceToHost".to_owned(),
            ["on-device"] => "Direction::DeviceToDevice".to_owned(),
            other => return Err(format!("`{}` is no direction", other.join(" "))),
        };
        let (to, from) = (self.arg(to)?, self.arg(from)?);
        Ok(format!("Copies {{ to: {to}, from: {from}, size: {size}, direction: {direction} }}"))
    }

    /// `kernel K grid G block B packed A shared S`, `kernel K config C args A`.
    pub(super) fn launches(&self, words: &[&str]) -> Read<String> {
        let (mut named, mut cooperative) = (HashMap::new(), "Some(false)");
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "cooperative" => cooperative = "Some(true)",
                "config" | "kernel" | "grid" | "block" | "packed" | "args" | "shared" => {
                    let arg = self.arg(words.next().copied().unwrap_or_default())?;
                    named.insert(*word, arg);
                }
                other => return Err(format!("`{other}` is no part of a launch")),
            }
        }
        if named.contains_key("config") {
            cooperative = "None";
        }
        let some = |name: &str| named.get(name).map_or_else(|| "None".to_owned(), |arg| format!("Some({arg})"));
        let extents = match (named.get("grid"), named.get("block")) {
            (Some(grid), Some(block)) => format!("Some([{grid}, {block}])"),
            _ => "None".to_owned(),
        };
        let packed = named.contains_key("packed");
        let (Some(kernel), Some(args)) = (named.get("kernel"), named.get(if packed { "packed" } else { "args" }))
        else {
            return Err("a launch has a kernel and arguments".to_owned());
        };
        Ok(format!(
            "Launches(LaunchArgs {{ kernel: {kernel}, extents: {extents}, config: {}, args: {args}, packed: {packed}, shared: {}, cooperative: {cooperative} }})",
            some("config"),
            some("shared")
        ))
    }

    pub(super) fn rust(&self) -> String {
        let flags = match self.flags.as_slice() {
            [] => "0".to_owned(),
            flags => flags.join(" | "),
        };
        let params: Vec<String> = self.params.iter().map(|param| format!("{param:?}")).collect();
        format!(
            "Function {{ library: Library::{}, section: {:?}, since: {:?}, until: {}, side: Side::{}, returns: Returns::{}, gives: {}, role: ErrorRole::{}, flags: {flags}, params: &[{}], outs: {}, effects: &[{}] }}",
            self.library,
            self.section,
            self.since,
            self.until.as_ref().map_or_else(|| "None".to_owned(), |until| format!("Some({until})")),
            self.side,
            self.returns,
            self.gives.as_ref().map_or_else(|| "None".to_owned(), |number| format!("Some({number})")),
            self.role.unwrap_or("Plain"),
            params.join(", "),
            self.outs,
            self.effects.join(", ")
        )
    }
}
