"""Runs `cudalint verify` on a finding of each script here, on a machine with a GPU, and compares with what the script says.

Usage: check.py CUDALINT [OUT [NAME-PART,NAME-PART…]]

A script says in lines `# case: {…}` what finding it has and what a run must say of it:

- `method`, `verdict`
- `at`: a part of the line it stands on; `flag`: the part of that line it covers (all of `at` when missing)
- `shows`: what is claimed; of accesses it follows from the method, or `fault` and `space` say what goes wrong where
- `function`, `bindings` (inputs with their values); `also`: lines of other places
- `launch`: part of the launch's line, blocks, threads of a block
- `accesses`: kind, index, extent, block, thread, part of the line (that of the finding when missing)
- `needs`: a package without which the case is left out
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile


def finding(name, text, case, number):
    lines = text.split("\n")

    def line_of(part):
        return next(index + 1 for index, line in enumerate(lines) if part in line and not line.startswith("# case:"))

    def span(part, flag=None):
        line = line_of(part)
        column = lines[line - 1].index(flag or part) + 1
        end = column + len(flag or part)
        return {"start": {"line": line, "column": column}, "end": {"line": line, "column": end}}

    def site(line):
        return {"path": name, "range": {"start": {"line": line, "column": 1}, "end": {"line": line, "column": 2}}}

    axes = lambda extents: (extents + [1, 1])[:3]
    index = lambda place: (place + [0, 0])[:3]
    launch = case.get("launch")
    accesses = [
        {
            "kind": kind, "index": element, "extent": extent, "block": index(block), "thread": index(thread),
            "site": site(line_of(line[0] if line else case["at"])),
        }
        for kind, element, extent, block, thread, *line in case.get("accesses", [])
    ]
    claim = {
        "shows": case.get("shows") or shows(case, accesses),
        "kernel": case.get("function") or None,
        "launch": launch
        and {"site": site(line_of(launch[0])), "grid": axes(launch[1]), "block": axes(launch[2]), "shared_bytes": 0},
        "inputs": case.get("bindings", {}),
        "sites": [{"path": name, "range": span(part)} for part in case.get("also", [])],
    }
    return {
        "rule": case.get("rule", "some-rule"), "group": "correctness", "severity": "error", "confidence": "definite",
        "message": "something is wrong", "path": name, "range": span(case["at"], case.get("flag")),
        "function": case.get("function") or None, "related": [], "claim": claim, "witness": None,
        "verification": {"method": case["method"], "verdict": None},
        "fix": None, "fingerprint": f"{number:016x}", "url": "",
    }


def shows(case, accesses):
    """What the findings of a method claim of their accesses."""
    method = case["method"]
    if method == "fault-injection":
        return {"kind": "unread-status", "fault": "status"}
    if method == "synccheck":
        return {"kind": "barrier"}
    memory = {"name": "", "space": case.get("space", "shared" if method == "racecheck" else "global"), "bytes": None}
    if method == "racecheck" or method == "watchpoint" and len(accesses) == 2:
        return {"kind": "race", "object": memory, "accesses": accesses}
    within = all(0 <= access["index"] < access["extent"] for access in accesses)
    unwritten = method == "initcheck" or method == "watchpoint" and within
    fault = case.get("fault", "unwritten" if unwritten else "out-of-bounds")
    return {"kind": "access", "fault": fault, "object": memory, "accesses": accesses}


def cases(folder):
    """Each script with its cases: name, text, what is expected, the finding."""
    number = 0
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        for line in text.split("\n"):
            if path.name != "check.py" and line.startswith("# case: "):
                number += 1
                case = json.loads(line[len("# case: ") :])
                yield path.name, text, case, finding(path.name, text, case, number)


def main():
    here = pathlib.Path(__file__).resolve().parent
    program = str(pathlib.Path(sys.argv[1]).resolve())
    out = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()).resolve()
    part = sys.argv[3] if len(sys.argv) > 3 else ""
    sources = out / "sources"
    sources.mkdir(parents=True, exist_ok=True)
    wanted, findings = [], []
    for name, text, case, entry in cases(here):
        if "needs" in case and importlib.util.find_spec(case["needs"]) is None:
            print(f"left out, for there is no {case['needs']}: {name} {case['method']} at {case['at']}")
        elif any(each in name for each in part.split(",")):
            (sources / name).write_text(text, encoding="utf-8")
            wanted.append((name, case))
            findings.append(entry)
    document = {
        "version": 2, "tool": {"name": "cudalint", "version": "0.1.0"}, "findings": findings,
        "files": {"checked": len(findings), "skipped": 0, "damaged": 0},
        "summary": {"error": len(findings), "warning": 0, "info": 0},
    }
    (sources / "findings.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    command = [program, "verify", "findings.json", "--output-format", "json", "--out", str(out / "outcomes"), "--jobs", "8"]
    run = subprocess.run(command, cwd=sources, capture_output=True, text=True)
    (out / "stderr.txt").write_text(run.stderr, encoding="utf-8")
    outcomes = {}
    for path in (out / "outcomes" / "scenarios").glob("*/outcome.json"):
        outcome = json.loads(path.read_text(encoding="utf-8"))
        outcomes[outcome["fingerprint"]] = outcome
    wrong = 0
    for (name, case), entry in zip(wanted, findings):
        outcome = outcomes.get(entry["fingerprint"], {})
        verdict = outcome.get("verification", {}).get("verdict", "none")
        good = verdict == case["verdict"]
        wrong += not good
        print(f"{'ok  ' if good else 'FAIL'} {name} {case['method']}: {verdict}, expected {case['verdict']}: {outcome.get('reason')}")
        for attempt in outcome.get("attempts", []):
            print(f"       {attempt['program']}: {attempt['verdict']}: {attempt['reason']}")
        for record in (outcome.get("verification", {}).get("evidence") or {}).get("records", [])[:2]:
            print(f"       {record['kind']} {record['kernel']} line {record['line']}: {record['text'].splitlines()[0][:160]}")
    print(f"{len(wanted)} cases, {wrong} wrong; outcomes in {out}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
