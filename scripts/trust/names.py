"""Names made to be mistaken for something else, in everything that the program writes: they are shown as text."""
import csv
import glob
import html.parser
import json
import os
import re
import shutil
import struct
import xml.etree.ElementTree

from common import Tally

NAMES = ["new\nline", "\x1b[31mred\x1b[0m", "\x9b2Jclear", "<script>alert(1)</script>", "</style></script><img src=x onerror=a>",
         "quo\"te's", "../../../outside", "/tmp/absolute", "a,b;c\td", "=cmd|' /C calc'!A0", "\u202ebackwards", "\rover",
         "$(touch pwned)`touch pwned`", "%s%n{}{0}", "long" + "x" * 1_000_000]
JOINT = "j\x1b[2J<b>\"',]]>"
SCENE = "\x1b]0;title\x07<i>scene\n"
LONGEST_LINE = 20_000  # of a terminal: a name of a megabyte is cut
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
SHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def scene():
    bodies = [{"name": "floor", "type": "static", "shape": {"type": "box", "size": [100, 1, 100]}, "position": [0, -0.5, 0]}]
    for number, name in enumerate(NAMES):
        bodies.append({"name": name, "shape": {"type": "box", "size": [0.2, 0.2, 0.2]},
                       "position": [0.5 * number, 0.101, 0]})
    # One is thrown hard, so that verdicts and failures have names to tell.
    bodies[2]["linear_velocity"] = [0.5, 0, 0]
    joints = [{"name": JOINT, "type": "ball", "bodies": [NAMES[0], NAMES[1]], "point": [0.25, 0.101, 0]}]
    expectations = [{"body": name, "quantity": "x", "min": 100} for name in NAMES]
    return {"tenon": 1, "name": SCENE, "gravity": [0, -9.81, 0], "seconds": 0.05, "method": {"type": "affine", "dt": 0.01},
            "bodies": bodies, "joints": joints, "expect": expectations}


def terminal(text):
    """What is wrong with text that a terminal shows."""
    found = SHOWN.search(text)
    if found:
        return f"control character {found.group()!r} in {text[max(0, found.start() - 40):found.end() + 20]!r}"
    longest = max(map(len, text.split("\n")), default=0)
    return f"a line of {longest} characters" if longest > LONGEST_LINE else ""


def control_free(text):
    """What is wrong with a file of text that may be printed."""
    found = CONTROL.search(text.replace("\r\n", "\n"))
    return f"control character {found.group()!r}" if found else ""


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.wrong = []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "img" and not attributes.get("src", "").startswith("data:"):
            self.wrong.append(f"<img {attributes}>")
        if tag in ("i", "b") or "onerror" in attributes:
            self.wrong.append(f"<{tag} {attributes}>")


def page(text):
    if "<script>alert" in text or "</style></script><img" in text:
        return "a name is markup"
    tags = Tags()
    tags.feed(text)
    return "; ".join(tags.wrong[:2])


def svg(text):
    xml.etree.ElementTree.fromstring(text)  # raises where it is not well formed
    return "a name is markup" if "<script>alert" in text else ""


def table(text):
    rows = list(csv.reader(text.splitlines(keepends=True)))
    if len({len(row) for row in rows}) != 1:
        return f"rows of {sorted({len(row) for row in rows})} columns"
    if any(cell[:1] in "=+@" for cell in rows[0] if cell):
        return "a head that a spreadsheet would compute"
    return control_free(text)


def gltf(file):
    with open(file, "rb") as stream:
        data = stream.read()
    length = struct.unpack_from("<I", data, 12)[0]
    nodes = json.loads(data[20:20 + length])["nodes"]
    missing = [name[:20] for name in NAMES if not any(name == node.get("name") for node in nodes)]
    return f"no node is named {missing[0]!r}" if missing else ""


def lines_begin(text, words):
    for line in text.split("\n"):
        if line.strip() and line.split()[0] not in words:
            return f"a line {line[:60]!r}"
    return control_free(text)


def json_file(text):
    json.loads(text)
    return ""


def read(file):
    with open(file, encoding="utf-8", errors="strict", newline="") as stream:
        return stream.read()


def outputs(program):
    """(name, words of the program, check of the files it leaves)."""
    folder = program.file("out")
    at = lambda name: os.path.join(folder, name)
    return [
        ("run", ["run", "hostile.json", "-o", at("run.tenon"), "--report", at("report.json")],
         lambda: json_file(read(at("report.json")))),
        ("check", ["check", "hostile.json"], None),
        ("check --json", ["check", "hostile.json", "--json"], "json"),
        ("verify", ["verify", at("run.tenon"), "-o", at("verdict.json")], lambda: json_file(read(at("verdict.json")))),
        ("plot .html", ["plot", at("run.tenon"), "-o", at("plot.html"), "--pictures", 1], lambda: page(read(at("plot.html")))),
        ("plot .svg", ["plot", at("run.tenon"), "-o", at("plot.svg")], lambda: svg(read(at("plot.svg")))),
        ("plot --list", ["plot", at("run.tenon"), "--list"], None),
        ("plot --csv", ["plot", at("run.tenon"), "--csv", at("series.csv"), "--series", "energy", "body." + NAMES[3] + ".x",
                        "body." + NAMES[2] + ".x", "body." + NAMES[10] + ".y", "body." + NAMES[0] + ".z"],
         lambda: table(read(at("series.csv")))),
        ("compare", ["compare", "hostile.json", "--methods", "affine", "-o", at("compare.html")],
         lambda: page(read(at("compare.html")))),
        ("diff", ["diff", at("run.tenon"), at("run.tenon")], None),
        ("diff of two", ["diff", at("run.tenon"), at("other.tenon")], None),
        ("view --html", ["view", at("run.tenon"), "--html", at("view.html")], lambda: page(read(at("view.html")))),
        ("render", ["render", at("run.tenon"), "-o", at("picture.png"), "--size", "160x120"], None),
        ("export gltf", ["export", at("run.tenon"), "--format", "gltf", "-o", at("run.glb")], lambda: gltf(at("run.glb"))),
        ("export usd", ["export", at("run.tenon"), "--format", "usd", "-o", at("run.usda")],
         lambda: control_free(read(at("run.usda")))),
        ("export vtk", ["export", at("run.tenon"), "--format", "vtk", "-o", at("vtk")], lambda: vtk_files(at("vtk"))),
        ("export obj", ["export", at("run.tenon"), "--format", "obj", "-o", at("obj")],
         lambda: "; ".join(filter(None, (lines_begin(read(f), {"#", "o", "g", "v", "f", "l", "p", "vn", "mtllib", "usemtl"})
                                         for f in glob.glob(at("obj/*.obj")))))),
        ("untangle", ["untangle", "free.json", "-o", at("untangled.json")], lambda: json_file(read(at("untangled.json")))),
    ]


def vtk_files(folder):
    for file in glob.glob(os.path.join(folder, "**"), recursive=True):
        if file.endswith((".vtu", ".vtp", ".pvd", ".vtm")):
            xml.etree.ElementTree.fromstring(read(file))
    return ""


def strays(program):
    """Files where no output was asked for."""
    allowed = {"hostile.json", "free.json", "out"}
    found = [name for name in os.listdir(program.folder) if name not in allowed]
    found += [path for path in ("/tmp/absolute",) if os.path.exists(path)]
    found += [os.path.join(program.folder, "..", "outside")] if os.path.exists(os.path.join(program.folder, "..", "outside")) else []
    return f"left {found}" if found else ""


def main(program, count=None):
    tally = Tally("outputs with hostile names")
    shutil.rmtree(program.folder)
    os.makedirs(program.file("out"))
    with open(program.file("hostile.json"), "w") as file:
        json.dump(scene(), file)
    with open(program.file("free.json"), "w") as file:
        json.dump({**scene(), "joints": []}, file)
    program.call("run", "hostile.json", "-o", program.file("out/other.tenon"), "--quiet", "--seconds", 0.04)
    for name, words, check in outputs(program):
        code, text = program.call(*words, seconds=300)
        wrong = []
        if code == 2 and "page is not built" in text:
            print(f"{name:34} skipped: 'make view' was not run", flush=True)
            continue
        if code not in (0, 1):
            wrong.append(f"exit {code}: {text.strip()[:200]!r}")
        try:
            wrong.append(json_file(text) if check == "json" else terminal(text))
            if callable(check):
                wrong.append(check())
        except Exception as error:  # a file that cannot be read back is what is looked for
            wrong.append(f"{type(error).__name__}: {str(error)[:200]}")
        wrong.append(strays(program))
        tally.add(name, "; ".join(filter(None, wrong)))
    return tally.end()
