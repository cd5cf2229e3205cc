"""Disks that fill, folders that vanish, two writers, readers of a file that grows."""
import os
import random
import shutil
import signal
import subprocess
import time

from common import Tally
from kills import difference, start

SCENE = ["wrecking-ball", "--seconds", 0.8, "--record-every", 1, "--checkpoint-wall", 0.02, "--quiet"]


def full_disk(program):
    """A small tmpfs: the run ends with words, its file is readable, and goes on when there is room."""
    place = program.file("small")
    os.makedirs(place, exist_ok=True)
    if os.geteuid() != 0:
        return "", "skipped: needs root for a tmpfs"
    whole = program.file("whole.tenon")
    program.call("run", *SCENE, "-o", whole)
    half = max(64, os.path.getsize(whole) // 2048)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={half}k", "tmpfs", place], check=True)
    try:
        output = os.path.join(place, "run.tenon")
        code, text = program.call("run", *SCENE, "-o", output)
        if code in (0, None) or code < 0:
            return f"exit {code} on a full disk", ""
        if "full" not in text and "space" not in text:
            return f"a full disk without words: {text.strip()[:200]}", ""
        verified, words = program.call("verify", output, "--quiet")
        if verified not in (0, 1):
            return f"the file of a full disk cannot be read: {words.strip()[:200]}", ""
        subprocess.run(["mount", "-o", "remount,size=1g", place], check=True)
        resumed, words = program.call("run", output, "--resume", *SCENE[1:])
        if resumed not in (0, 1):
            return f"not resumed: exit {resumed}, {words.strip()[:200]}", ""
        wrong = difference(whole, output)
        return (f"{wrong} differs after a full disk" if wrong else ""), f"exit {code}: {text.strip()[:100]}"
    finally:
        subprocess.run(["umount", "-l", place])


def removed_folder(program):
    """Its folder is taken away in the middle: an end with words, no crash, no hang."""
    wrong = []
    rng = random.Random(3)
    for _ in range(5):
        place = program.file("gone")
        os.makedirs(place, exist_ok=True)
        process = subprocess.Popen([program.path, "run", *map(str, SCENE), "-o", os.path.join(place, "run.tenon")],
                                   cwd=program.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(rng.uniform(0.1, 0.8))
        shutil.rmtree(place, ignore_errors=True)
        try:
            _, text = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            process.kill()
            wrong.append("no end")
            continue
        if process.returncode not in (0, 1, 2):
            wrong.append(f"exit {process.returncode}: {text.strip()[:120]}")
    return "; ".join(wrong), ""


def two_writers(program):
    output = program.file("shared.tenon")
    program.remove("shared")
    long_run = ["run", "wrecking-ball", "--seconds", 60, "--quiet", "-o", output]
    first = start(program, long_run)
    while not os.path.exists(output) and first.poll() is None:
        time.sleep(0.02)
    time.sleep(0.3)
    code, text = program.call("run", "incline", "--seconds", 0.1, "--quiet", "-o", output)
    resumed, words = program.call("run", output, "--resume", "--quiet")
    looked, said = program.call("verify", output, "--quiet")
    first.send_signal(signal.SIGINT)
    try:
        first.wait(timeout=20)
    except subprocess.TimeoutExpired:
        first.kill()
        return "no end after SIGINT", ""
    wrong = []
    if code != 2:
        wrong.append(f"a second writer: exit {code}, {text.strip()[:120]}")
    if resumed != 2:
        wrong.append(f"a resume beside the writer: exit {resumed}, {words.strip()[:120]}")
    if looked not in (0, 1):
        wrong.append(f"a reader beside the writer: exit {looked}, {said.strip()[:120]}")
    verified, said = program.call("verify", output, "--quiet")
    if verified not in (0, 1):
        wrong.append(f"the first one's file is spoiled: {said.strip()[:120]}")
    program.remove("shared")
    return "; ".join(wrong), text.strip()[:120]


def live_readers(program):
    """Every verb that reads, on a file that grows."""
    output = program.file("live.tenon")
    program.remove("live")
    writer = start(program, ["run", "wrecking-ball", "--seconds", 60, "--quiet", "-o", output])
    while not os.path.exists(output) and writer.poll() is None:
        time.sleep(0.02)
    time.sleep(0.5)
    wrong = []
    verbs = [["verify", output, "--quiet"], ["export", output, "-o", program.file("live.glb")],
             ["plot", output, "--series", "iterations", "-o", program.file("live.svg")],
             ["render", output, "-o", program.file("live.png"), "--size", "64x48"],
             ["run", output, "--csv", program.file("live.csv"), "--replay", "--quiet"]]
    for words in verbs[:4]:
        code, text = program.call(*words, seconds=120)
        if code not in (0, 1):
            wrong.append(f"{words[0]}: exit {code}, {text.strip()[:100]}")
    writer.send_signal(signal.SIGTERM)
    try:
        writer.wait(timeout=20)
    except subprocess.TimeoutExpired:
        writer.kill()
        wrong.append("no end after SIGTERM")
    program.remove("live")
    return "; ".join(wrong), ""


def main(program, _=0):
    tally = Tally("disk troubles")
    for trouble in (full_disk, removed_folder, two_writers, live_readers):
        wrong, note = trouble(program)
        tally.add(trouble.__name__.replace("_", " "), wrong, note)
    return tally.end()
