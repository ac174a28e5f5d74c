"""Takes recorded outputs into tests/recorded.

Usage: keep.py FOLDER NAME.TOOL...     FOLDER: what record.sh's archive holds

Leaves out records that repeat one with the same kind, place and call (thousands of threads say the same), in the XML and
in the text alike, and names folders of the recording machine /project, /venv and /lib. Nothing else is changed.
"""
import os
import re
import sys

REPEATS = 3
folder, names = sys.argv[1], sys.argv[2:]
target = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "recorded")


def plain(text):
    text = re.sub(r"/tmp/tmp\.[A-Za-z0-9]+/src", "/project", text)
    text = re.sub(r"/opt/[^\s<]*?/\.venv", "/venv", text)
    return text.replace("/usr/local/nvidia/lib64/", "/lib/")


def split_text(text):
    """Headlines with what belongs to them; records end with an empty line of the tool."""
    head, records, rest, record = [], [], [], None
    for line in text.splitlines(keepends=True):
        content = line[9:] if line.startswith("=========") else None
        if content is None:
            continue
        if record is not None:
            record.append(line)
            if not content.strip() and len(content) <= 2:
                records.append(record)
                record = None
        elif content.strip() == "COMPUTE-SANITIZER":
            head.append(line)
        elif re.search(r"SUMMARY|Target application|process didn't|The application may", content):
            rest.append(line)
        else:
            record = [line]
    if record:
        records.append(record)
    return head, ["".join(record) for record in records], rest


def key(text):
    text = re.sub(r"0x[0-9a-fA-F]+|thread \([^)]*\)|block \([^)]*\)|Thread \([^)]*\)|[\d,]+ bytes (before|after)", "", text)
    return re.sub(r"<(pc|address|accessAddress|errorAddress|x|y|z|current|write)>[^<]*<", "<", text)


def kept(keys):
    seen, chosen = {}, []
    for index, each in enumerate(keys):
        seen[each] = seen.get(each, 0) + 1
        if seen[each] <= REPEATS:
            chosen.append(index)
    return chosen


os.makedirs(target, exist_ok=True)
for name in names:
    base = os.path.join(folder, name)
    read = lambda end: plain(open(base + end, encoding="utf-8", errors="replace").read())
    xml = read(".xml") if os.path.exists(base + ".xml") else None
    # The text of the run that wrote the XML; of a run that was ended, its log.
    head, records, rest = split_text(read(".run" if xml else ".txt" if os.path.exists(base + ".txt") else ".run"))
    parts = re.split(r"(?s)(  <record>.*?</record>\n)", xml) if xml else []
    of_xml = parts[1::2]
    if xml and len(of_xml) != len(records):
        # The program prints what looks like records: the log has the tool's own alone.
        head, records, rest = split_text(read(".txt"))
    if xml and len(of_xml) != len(records):
        sys.exit(f"{name}: {len(of_xml)} records in the XML and {len(records)} in the text")
    chosen = kept([key(text) + (key(of_xml[i]) if xml else "") for i, text in enumerate(records)])
    with open(os.path.join(target, name + ".txt"), "w", encoding="utf-8") as file:
        file.write("".join(head) + "".join(records[i] for i in chosen) + "".join(rest))
    if xml:
        inner = "".join(of_xml[i] for i in chosen)
        with open(os.path.join(target, name + ".xml"), "w", encoding="utf-8") as file:
            file.write((parts[0] + inner + parts[-1]) if of_xml else xml)
