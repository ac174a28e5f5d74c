//! The XML that compute-sanitizer writes with `--xml --save`: a root with records. The tool documents no schema; elements
//! are those of its outputs (see `tests/recorded`), and an unknown one is passed over. Each record is parsed on its own,
//! so that what stands before a cut or a piece of garbage is read.

use super::classify::{access_in, address, category, fault_in, space_in};
use super::record::{Access, Category, Fault, Frame, Kernel, RaceAccess, Record};
use quick_xml::Reader;
use quick_xml::events::Event;

const ROOT: &str = "<ComputeSanitizerOutput";
const OPEN: &str = "<record>";
const CLOSE: &str = "</record>";
/// Elements within each other that a record may have.
const DEPTH: usize = 16;
/// Elements that a record may have.
const ELEMENTS: usize = 4096;
/// Problems that are named one by one.
const PROBLEMS: usize = 5;

/// What an XML text says.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) records: Vec<Record>,
    pub(super) problems: Vec<String>,
    /// Whether the text has the root element, so that it is such a report at all.
    pub(super) root_seen: bool,
    /// Whether the root element is closed.
    pub(super) closed: bool,
}

/// Reads an XML text.
pub(super) fn read(text: &str) -> Parsed {
    let mut parsed = Parsed {
        root_seen: text.contains(ROOT),
        closed: text.contains("</ComputeSanitizerOutput>") || text.contains("<ComputeSanitizerOutput/>"),
        ..Parsed::default()
    };
    if !parsed.root_seen {
        parsed.problems.push("the report is not the XML of compute-sanitizer".to_owned());
        return parsed;
    }
    let mut rest = text;
    let mut number = 0usize;
    let mut unread = 0usize;
    while let Some(open) = rest.find(OPEN) {
        number += 1;
        let body = rest.get(open + OPEN.len()..).unwrap_or("");
        let next = body.find(OPEN);
        let read = match body.find(CLOSE) {
            Some(close) if next.is_none_or(|next| close < next) => {
                rest = body.get(close + CLOSE.len()..).unwrap_or("");
                parse(body.get(..close).unwrap_or(""))
            }
            _ => {
                rest = next.and_then(|next| body.get(next..)).unwrap_or("");
                Err("it is cut off".to_owned())
            }
        };
        match read {
            Ok(node) => parsed.records.push(record(&node)),
            Err(problem) => {
                unread += 1;
                if unread <= PROBLEMS {
                    parsed.problems.push(format!("record {number} of the report cannot be read: {problem}"));
                }
            }
        }
    }
    if unread > PROBLEMS {
        parsed.problems.push(format!("{} more records of the report cannot be read", unread - PROBLEMS));
    }
    if !parsed.closed {
        parsed.problems.push("the report is cut off".to_owned());
    }
    parsed
}

/// An element with its text and the elements in it.
#[derive(Debug, Default)]
struct Node {
    name: String,
    text: String,
    children: Vec<Node>,
}

impl Node {
    fn child(&self, name: &str) -> Option<&Node> {
        self.children.iter().find(|child| child.name == name)
    }

    fn children<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Node> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The text of the element below these names.
    fn text(&self, path: &[&str]) -> Option<&str> {
        let mut node = self;
        for name in path {
            node = node.child(name)?;
        }
        Some(node.text.trim()).filter(|text| !text.is_empty())
    }

    fn number(&self, path: &[&str]) -> Option<u64> {
        self.text(path).and_then(address)
    }

    /// An element with `x`, `y` and `z`.
    fn triple(&self, path: &[&str]) -> Option<[u64; 3]> {
        let mut node = self;
        for name in path {
            node = node.child(name)?;
        }
        Some([node.number(&["x"])?, node.number(&["y"])?, node.number(&["z"])?])
    }
}

/// Parses what stands within a record.
fn parse(body: &str) -> Result<Node, String> {
    let mut reader = Reader::from_str(body);
    let mut open = vec![Node::default()];
    let mut elements = 0usize;
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(start) => {
                elements += 1;
                if open.len() > DEPTH || elements > ELEMENTS {
                    return Err("it has too many elements".to_owned());
                }
                let name = String::from_utf8_lossy(start.local_name().into_inner()).into_owned();
                open.push(Node { name, ..Node::default() });
            }
            Event::End(_) => {
                let done = open.pop().unwrap_or_default();
                match open.last_mut() {
                    Some(parent) => parent.children.push(done),
                    None => return Err("it closes what it did not open".to_owned()),
                }
            }
            Event::Empty(start) => {
                let name = String::from_utf8_lossy(start.local_name().into_inner()).into_owned();
                if let Some(parent) = open.last_mut() {
                    parent.children.push(Node { name, ..Node::default() });
                }
            }
            Event::Text(text) => {
                if let Some(node) = open.last_mut() {
                    node.text.push_str(&text.decode().map_err(|error| error.to_string())?);
                }
            }
            Event::GeneralRef(entity) => {
                let name = entity.decode().map_err(|error| error.to_string())?;
                let letter = entity.resolve_char_ref().ok().flatten().map(String::from);
                let text = letter.or_else(|| quick_xml::escape::resolve_predefined_entity(&name).map(str::to_owned));
                if let (Some(node), Some(text)) = (open.last_mut(), text) {
                    node.text.push_str(&text);
                }
            }
            Event::CData(data) => {
                if let Some(node) = open.last_mut() {
                    node.text.push_str(&data.decode().map_err(|error| error.to_string())?);
                }
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    match (open.pop(), open.is_empty()) {
        (Some(root), true) => Ok(root),
        _ => Err("an element is not closed".to_owned()),
    }
}

fn record(node: &Node) -> Record {
    let nothing = Node::default();
    let what = node.child("what").unwrap_or(&nothing);
    let headline = what.text(&["text"]).or_else(|| what.text(&["exception"])).unwrap_or_default();
    let mut record = Record::new(headline);
    record.warning = node.text(&["level"]).is_some_and(|level| level == "Warning");
    record.thread = node.triple(&["who", "threadIdx"]);
    record.block = node.triple(&["who", "blockIdx"]);
    record.address = what.number(&["address"]).or_else(|| what.number(&["accessAddress"]));
    if let Some(place) = node.child("where") {
        record.device.push(frame(place));
    }
    if let Some(stack) = node.child("deviceStack") {
        record.device.extend(stack.children("frame").map(frame));
    }
    // `hostAccessStack` stands in records of stream-ordered allocations.
    if let Some(stack) = node.child("hostStack").or_else(|| node.child("hostAccessStack")) {
        record.moment = stack.text(&["saveLocation"]).map(str::to_owned);
        record.host = stack.children("frame").map(frame).collect();
    }
    record.category = match node.text(&["kind"]).unwrap_or_default() {
        "Precise" => Category::InvalidAccess {
            space: space_in(what.text(&["space"]).unwrap_or(headline)),
            access: access_in(what.text(&["direction"]).unwrap_or(headline)),
            bytes: what.number(&["size"]).unwrap_or(0),
            fault: what.text(&["error"]).and_then(fault_in).or_else(|| fault_in(headline)).unwrap_or(Fault::Other),
        },
        "Api" => api_error(what, headline),
        "Leak" => Category::Leak { bytes: what.number(&["size"]).unwrap_or(0) },
        "Analysis" => Category::Race { accesses: analysis(what) },
        "Hazard" => {
            record.address = what.number(&["common", "address"]);
            record.block = what.triple(&["common", "blockIdx"]);
            Category::Race { accesses: ["thread0", "thread1"].iter().filter_map(|side| hazard(what, side)).collect() }
        }
        "Initcheck" => {
            Category::Uninitialized { access: access_in(headline), bytes: what.number(&["size"]).unwrap_or(0) }
        }
        "InitcheckApiError" => Category::UninitializedCopy {
            bytes: what.number(&["accessSize"]).unwrap_or(0),
            error_address: what.number(&["errorAddress"]),
        },
        "UnusedMemory" => Category::Unused,
        "Synccheck" => Category::Barrier { problem: what.text(&["type"]).unwrap_or(headline).to_owned() },
        "Syscall" => Category::DeviceHeap { problem: what.text(&["type"]).unwrap_or(headline).to_owned() },
        "Imprecise" | "StackOverflow" | "ClusterEntryExit" => Category::DeviceFault { problem: headline.to_owned() },
        _ => category(headline),
    };
    record.kernel = match &record.category {
        Category::Race { accesses } => accesses.first().map(|(access, _)| Kernel::new(&access.frame.function)),
        _ => record.device.last().map(|frame| Kernel::new(&frame.function)),
    };
    record
}

fn api_error(what: &Node, headline: &str) -> Category {
    let (mut function, mut code, mut name) = (String::new(), None, String::new());
    if let Category::ApiError { function: of_text, code: number, name: named } = category(headline) {
        (function, code, name) = (of_text, number, named);
    }
    Category::ApiError {
        function: what.text(&["api"]).map_or(function, str::to_owned),
        code: what.text(&["result"]).and_then(|text| text.parse().ok()).or(code),
        name: what.text(&["error"]).map_or(name, str::to_owned),
    }
}

fn analysis(what: &Node) -> Vec<(RaceAccess, u64)> {
    let side = |node: &Node| {
        let access = node.text(&["direction"]).map_or(Access::Other, access_in);
        let place = node.child("where").map(frame).unwrap_or_default();
        (RaceAccess { access, frame: place, thread: None }, node.number(&["count"]).unwrap_or(0))
    };
    let sources = what.children("source").take(1);
    sources.chain(what.children("destination")).map(side).collect()
}

fn hazard(what: &Node, side: &str) -> Option<(RaceAccess, u64)> {
    let node = what.child(side)?;
    let access = node.text(&["access"]).map_or(Access::Other, access_in);
    let place = node.child("where").map(frame).unwrap_or_default();
    let count = u64::from(side == "thread1");
    Some((RaceAccess { access, frame: place, thread: node.triple(&["threadIdx"]) }, count))
}

fn frame(node: &Node) -> Frame {
    let text = |name: &str| node.text(&[name]).map(str::to_owned);
    Frame {
        function: text("func").unwrap_or_default(),
        file: text("path"),
        line: node.number(&["line"]).and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0),
        module: text("module"),
    }
}
