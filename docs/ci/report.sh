#!/bin/sh
# Says in a page of Markdown what a verification found: verdicts counted, and each confirmed finding with its reproducer.
# On GitHub the page becomes the summary of the job, and each confirmed finding an annotation.
#
#   report.sh RESULT [PAGE.md]
#
# RESULT is the folder that verify.sh wrote. Without PAGE.md: $GITHUB_STEP_SUMMARY, else standard output.
#
# Exit status: 0; 2 when RESULT is no such folder. What was found is no matter here: verify.sh has said it.
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: report.sh RESULT [PAGE.md]" >&2
    exit 2
fi
if [ ! -f "$1/status" ]; then
    echo "report.sh: $1: not what verify.sh writes" >&2
    exit 2
fi

python3 - "$1" "${2:-${GITHUB_STEP_SUMMARY:-}}" <<'PYTHON'
import collections
import json
import os
import sys

result, page = sys.argv[1:]
with open(os.path.join(result, "status"), encoding="utf-8") as file:
    status = int(file.read())
headline = {
    0: "No finding was confirmed",
    1: "Findings were confirmed on a GPU",
    3: "Nothing could be decided",
}.get(status, "The verification could not be done")
lines = [f"## cudalint: {headline}", ""]

findings = []
try:
    with open(os.path.join(result, "verified.json"), encoding="utf-8") as file:
        findings = json.load(file)["findings"]
except (OSError, ValueError, KeyError, TypeError):
    lines += ["There is no list of findings: see the log of the verification.", ""]


def data(text):
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def attribute(text):
    return data(text).replace(":", "%3A").replace(",", "%2C")


def cell(text):
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


verdicts = collections.Counter(finding["verification"]["verdict"] or "not tried" for finding in findings)
if verdicts:
    lines += ["| verdict | findings |", "|---|---|"]
    lines += [f"| {verdict} | {count} |" for verdict, count in sorted(verdicts.items())]
    lines.append("")
if status == 3:
    lines += [
        "This says nothing about the findings, neither that they are right nor that they are wrong. "
        "What the machine has and lacks:",
        "",
        "```text",
    ]
    with open(os.path.join(result, "doctor.txt"), encoding="utf-8", errors="replace") as file:
        lines += [line.rstrip().replace("```", "'''") for line in file]
    lines += ["```", ""]

confirmed = [finding for finding in findings if finding["verification"]["verdict"] == "confirmed"]
if confirmed:
    lines += ["| confirmed | rule | what | on | reproducer |", "|---|---|---|---|---|"]
for finding in confirmed:
    evidence = finding["verification"].get("evidence") or {}
    place = f"{finding['path']}:{finding['range']['start']['line']}"
    device = evidence.get("device") or "a GPU"
    reproducer = evidence.get("reproducer") or ""
    lines.append(
        "| "
        + " | ".join(cell(text) for text in (place, finding["rule"], finding["message"], device, reproducer))
        + " |"
    )
    if os.environ.get("GITHUB_ACTIONS") == "true":
        title = attribute(f"{finding['rule']}: confirmed on {device}")
        start = finding["range"]["start"]
        print(
            f"::error file={attribute(finding['path'])},line={start['line']},col={start['column']},title={title}::"
            + data(finding["message"])
        )
if confirmed:
    lines += ["", "Reproducers and `report.html` are in the folder `outcome` of the artifact.", ""]

text = "\n".join(lines) + "\n"
if page:
    with open(page, "a", encoding="utf-8") as file:
        file.write(text)
else:
    sys.stdout.write(text)
PYTHON
