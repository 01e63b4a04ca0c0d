"""samples.py DOCUMENT...: run the samples of the documentation and compare what they
print with what stands there.

A sample is an indented block.  Its lines `$ COMMAND` are run by sh, in order, in the
current folder, which the samples of one document share; `$ ecl` starts a Lisp, whose
lines `> FORM` follow.  What stands below a command is its output; a line `...` is for any
lines.  Times and dates may differ.  Commands that change the machine are not run.

Status 1 and a line for each sample that differs."""
import difflib
import os
import re
import subprocess
import sys

NOT_RUN = ("./bootstrap", "git ", "apt", "man ", "./configure", "make")


def plain(line):
    """LINE without what differs from run to run."""
    line = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", "DATE", line)
    line = re.sub(r"\b\d+\.\d+ s\b", "TIME", line)
    line = re.sub(r"up to [\d.]+ MB, \d+ collections?", "COLLECTIONS", line)
    if "TIME" in line or "DATE" in line:
        line = re.sub(r"  +", " ", line)
    return line.rstrip()


def blocks(text):
    """The indented blocks, each a list of lines without their indentation."""
    block = []
    for line in text.split("\n") + ["end"]:
        if line.startswith("    ") or (block and not line.strip()):
            block.append(line[4:])
        elif block:
            yield block
            block = []


def samples(text):
    """Commands or Lisp forms, and what they print: pairs of lists."""
    for block in blocks(text):
        wanted = None
        for line in block:
            if line.startswith("$ "):
                commands, wanted = [line[2:]], []
                yield commands, wanted
            elif line.startswith("> ") and wanted == []:
                commands.append(line[2:])
            elif wanted is not None:
                wanted.append(line)


def alike(wanted, found):
    """Whether the lines FOUND are those that are WANTED."""
    if not wanted:
        return True
    pattern = "\n".join(r"(?:.*\n)*?.*" if line.strip() == "..." else re.escape(plain(line))
                        for line in wanted)
    return re.fullmatch(pattern, "\n".join(plain(line) for line in found)) is not None


def run(commands):
    """The lines that COMMANDS print."""
    if commands[0] != "ecl":
        done = subprocess.run(["sh", "-c", commands[0]], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=300, check=False)
        text = done.stdout.decode()
    else:
        forms = [a for form in commands[1:] for a in ("--eval", form)]
        done = subprocess.run([os.environ["MPROF_ECL"], "--norc", *forms, "--eval", "(ext:quit)"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                              stdin=subprocess.DEVNULL, check=False)
        text = done.stdout.decode()
    return text.rstrip("\n").split("\n")


def trimmed(lines):
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


status = compared = 0
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        text = file.read()
    for commands, wanted in list(samples(text)):
        wanted = trimmed(wanted)
        if commands[0].startswith(NOT_RUN) or (
                commands[0] == "ecl" and not os.environ.get("MPROF_ECL")):
            continue
        found = run(commands)
        compared += bool(wanted)
        if not alike(wanted, found):
            print(f"FAIL {name}: {commands[-1]}")
            print("\n".join(difflib.unified_diff(
                [plain(line) for line in wanted], [plain(line) for line in found], "document",
                "printed", lineterm="")))
            status = 1
print(f"{compared} samples compared")
sys.exit(status or compared == 0)
