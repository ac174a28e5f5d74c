//! Findings in short: a claim that is not written out follows from the method and the accesses of the witness.
#![allow(dead_code, clippy::unwrap_used, clippy::needless_pass_by_value)]

use cudalint_findings::model::FindingEntry;
use serde_json::{Value, json};

/// What every such finding says to people: nobody may read it.
const WORDS: &str = "the grid of `cudaFree` raises a `TypeError`: `n` is 7, and shared memory is fine";

/// A finding. Besides its fields, `shows` may say what the claim shows, `kernel` its kernel,
/// `fault` what is wrong with an access, and `space` where the accesses go.
pub fn entry(mut value: Value) -> FindingEntry {
    value["message"] = WORDS.into();
    let fields = value.as_object_mut().unwrap();
    let mut take = |name: &str| fields.remove(name).unwrap_or(Value::Null);
    let (shows, kernel, space, fault) = (take("shows"), take("kernel"), take("space"), take("fault"));
    if value["claim"].is_null() {
        let accesses: Vec<Value> = list(&value["witness"]["accesses"])
            .iter()
            .map(|access| {
                let mut access = access.clone();
                let line = access.as_object_mut().unwrap().remove("line").unwrap();
                let cell = access.as_object_mut().unwrap().remove("cell").unwrap_or_default();
                access["site"] = site(&value["path"], &line, &cell);
                access
            })
            .collect();
        let shows = if shows.is_null() { usual(&value, &accesses, &space, fault.as_str()) } else { shows };
        let mut launch = value["witness"]["launch"].clone();
        if let Some(fields) = launch.as_object_mut() {
            let mut take = |name: &str| fields.remove(name).unwrap_or_default();
            let (path, line, cell) = (take("path"), take("line"), take("cell"));
            launch["site"] = site(&path, &line, &cell);
        }
        let sites: Vec<Value> = list(&value["related"])
            .iter()
            .map(|related| json!({"path": related["path"], "range": related["range"]}))
            .collect();
        let inputs = &value["witness"]["bindings"];
        let inputs = if inputs.is_null() { json!({}) } else { inputs.clone() };
        value["claim"] = json!({"shows": shows, "kernel": kernel, "launch": launch, "inputs": inputs, "sites": sites});
    }
    serde_json::from_value(value).unwrap()
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// A line as a site.
fn site(path: &Value, line: &Value, cell: &Value) -> Value {
    let mut start = json!({"line": line, "column": 1});
    if !cell.is_null() {
        start["cell"] = cell.clone();
    }
    let mut end = start.clone();
    end["column"] = 2.into();
    json!({"path": path, "range": {"start": start, "end": end}})
}

/// What findings of a method usually claim.
fn usual(value: &Value, accesses: &[Value], space: &Value, fault: Option<&str>) -> Value {
    let space = if space.is_null() { json!("global") } else { space.clone() };
    let object = json!({"name": "a", "space": space, "bytes": null});
    let leaves = accesses.iter().any(|access| access["index"].as_i64() >= access["extent"].as_i64());
    let access = |usual: &str| {
        let fault = fault.unwrap_or(usual);
        json!({"kind": "access", "fault": fault, "object": object, "accesses": accesses})
    };
    match value["verification"]["method"].as_str().unwrap() {
        "memcheck" => access("out-of-bounds"),
        "initcheck" => access("unwritten"),
        "watchpoint" if accesses.len() == 1 && leaves => access("out-of-bounds"),
        "watchpoint" if accesses.len() == 1 => access("unwritten"),
        "racecheck" | "watchpoint" => json!({"kind": "race", "object": object, "accesses": accesses}),
        "synccheck" => json!({"kind": "barrier"}),
        "fault-injection" => json!({"kind": "unread-status", "fault": "status"}),
        _ => json!({"kind": "nothing"}),
    }
}

/// A call of this function fails.
pub fn failed_call(function: &str) -> Value {
    json!({"kind": "failed-call", "call": {"function": function, "argument": null, "site": null}})
}

/// A launch is refused: `blocks`, `threads` or `shared-memory`.
pub fn refused_launch(of: &str) -> Value {
    json!({"kind": "refused-launch", "of": of})
}

/// A pointer that is none of the device's: `user` says who is given it.
pub fn bad_address(user: Value) -> Value {
    json!({"kind": "bad-address", "name": "p", "user": user})
}

/// A kernel is given a pointer.
pub fn kernel() -> Value {
    json!({"kind": "kernel", "parameter": null})
}

/// A call is given a pointer.
pub fn call(function: &str) -> Value {
    json!({"kind": "call", "call": {"function": function, "argument": null, "site": null}})
}

/// Memory that differs.
pub fn memory(difference: Value) -> Value {
    json!({"kind": "memory", "difference": difference})
}

/// An exception of one of these classes.
pub fn exception(classes: &[&str], words: &[&str]) -> Value {
    json!({"kind": "exception", "classes": classes, "words": words})
}
