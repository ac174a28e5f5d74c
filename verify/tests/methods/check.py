"""Runs `cudalint verify` on each findings file here, on a machine with a GPU, and compares with expected.toml.

Usage: check.py CUDALINT [OUT]
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib

here = pathlib.Path(__file__).resolve().parent
program = str(pathlib.Path(sys.argv[1]).resolve())
out = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()).resolve()
wrong = 0
for method, cases in tomllib.loads((here / "expected.toml").read_text()).items():
    for case, expected in cases.items():
        folder = here / method / case
        command = [program, "verify", "findings.json", "--output-format", "json", "--out", str(out / f"{method}-{case}")]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        try:
            verification = json.loads(run.stdout)["findings"][0]["verification"]
        except (ValueError, LookupError):
            verification = {"verdict": f"none (status {run.returncode}): {run.stderr.strip()[-300:]}"}
        verdict = verification["verdict"]
        wrong += verdict != expected
        print(f"{'ok  ' if verdict == expected else 'FAIL'} {method}/{case}: {verdict}, expected {expected}")
        for record in (verification.get("evidence") or {}).get("records", []):
            print(f"       {record['kind']} {record['kernel']} line {record['line']}: {record['text'].splitlines()[0]}")
print(f"outcomes in {out}")
sys.exit(1 if wrong else 0)
