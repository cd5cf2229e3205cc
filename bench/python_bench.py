#!/usr/bin/python3
"""What Python adds to a step, and what a pool gains by threads: JSON lines.

    PYTHONPATH=build/python bench/python_bench.py [--program build/bin/tenon] [--n 256] [--steps 200] [--rounds 5] [--only CASE]

`call` compares one call per step with one call for all of them. `wrecking-ball` compares its steps with those of C++ (`tenon bench python`).
`pendula` and `arms` compare one thread, two threads and two processes on the same batch, and print MuJoCo's mjData on threads beside them.
All in turn, several rounds: smallest processor times, medians of wall-clock rates, which mean something on an idle machine only (`load`)."""
import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import time

import tenon


def rods(joints):
    """A rod of 1 m on a hinge, or a chain of them with servos, hinges about z and y in turn."""
    scene = {"name": "rods", "gravity": [0, -9.81, 0], "method": {"type": "articulated", "dt": 0.002}, "bodies": [], "joints": [], "actuators": []}
    for k in range(joints):
        scene["bodies"].append({"name": f"rod-{k}", "shape": {"type": "box", "size": [1, 0.05, 0.05]}, "mass": 2, "position": [k + 0.5, 0, 0],
                                "collides": False})
        scene["joints"].append({"name": f"hinge-{k}", "type": "hinge", "bodies": [f"rod-{k - 1}" if k else "world", f"rod-{k}"],
                                "point": [k, 0, 0], "axis": [0, k % 2, 1 - k % 2]})
        if joints > 1:
            scene["actuators"].append({"name": f"servo-{k}", "type": "position", "joint": f"hinge-{k}", "kp": 2000, "kd": 200})
    return tenon.Scene(scene).compile()


def say(case, **values):
    values = {key: round(value, 4) if isinstance(value, float) else value for key, value in values.items()}
    print(json.dumps({"bench": "python", "case": case, **values, "load": os.getloadavg()[0]}), flush=True)


def call_overhead(rounds, count=2000):
    """Microseconds of a step, and of a call of tenon.step(model, state) beyond it."""
    model = rods(1)
    state = model.state()
    tenon.step(model, state, n=count)
    step, single, batch = tenon.step, [], []
    for _ in range(3 * rounds):
        start = time.process_time()
        for _ in range(count):
            step(model, state)
        single.append(time.process_time() - start)
        start = time.process_time()
        step(model, state, n=count)
        batch.append(time.process_time() - start)
    return 1e6 * min(batch) / count, 1e6 * (min(single) - min(batch)) / count


def beside_cpp(program, rounds, steps=60):
    """Processor milliseconds a step of wrecking-ball, from Python and from C++, in turn."""
    tenon.set_threads(1)
    here, there = [], []
    for _ in range(rounds):
        sim = tenon.Simulation("wrecking-ball", method="affine", dt=0.01)
        start = time.thread_time()
        for _ in range(steps):
            sim.step()
        here.append(1e3 * (time.thread_time() - start) / steps)
        out = subprocess.run([program, "bench", "python", "--only", "wrecking-ball", "--json", "--threads", "1"], capture_output=True, text=True,
                             check=True).stdout
        there.append(json.loads(out)["cpu_ms_per_step"])
    return here, there


def batch(joints, n, threads, steps):
    """Steps per second, and processor microseconds of one."""
    pool = tenon.Pool(rods(joints), n, threads=threads)
    pool.step(5)
    start, cpu = time.perf_counter(), time.process_time()
    for _ in range(steps):
        pool.step()
    return n * steps / (time.perf_counter() - start), 1e6 * (time.process_time() - cpu) / (n * steps)


def worker(joints, n, steps, ready, go, results):
    pool = tenon.Pool(rods(joints), n, threads=1)
    pool.step(5)
    ready.put(1)
    go.wait()
    start, cpu = time.perf_counter(), time.process_time()
    for _ in range(steps):
        pool.step()
    results.put((start, time.perf_counter(), time.process_time() - cpu))


def two_processes(joints, n, steps):
    context = multiprocessing.get_context("spawn")
    ready, go, results = context.Queue(), context.Event(), context.Queue()
    workers = [context.Process(target=worker, args=(joints, n // 2, steps, ready, go, results)) for _ in range(2)]
    for one in workers:
        one.start()
    for _ in workers:
        ready.get()
    go.set()
    spans = [results.get() for _ in workers]
    for one in workers:
        one.join()
    seconds = max(end for _, end, _ in spans) - min(start for start, _, _ in spans)
    return n * steps / seconds, 1e6 * sum(cpu for _, _, cpu in spans) / (n * steps)


def pools(case, joints, options):
    ways = {"one_thread": lambda: batch(joints, options.n, 1, options.steps), "two_threads": lambda: batch(joints, options.n, 2, options.steps),
            "two_processes": lambda: two_processes(joints, options.n, options.steps)}
    measured = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, way in ways.items():
            measured[name].append(way())
    rate = {name: statistics.median(rate for rate, _ in rows) for name, rows in measured.items()}
    cpu = {name: min(cpu for _, cpu in rows) for name, rows in measured.items()}
    # of the same round, as the machine's other work changes from one to the next
    ratios = [threads[0] / processes[0] for threads, processes in zip(measured["two_threads"], measured["two_processes"])]
    say(case, size=options.n, rounds=options.rounds, steps_per_second={name: round(value) for name, value in rate.items()},
        cpu_us_per_step={name: round(value, 3) for name, value in cpu.items()}, threads_over_processes=statistics.median(ratios),
        threads_over_processes_best=max(ratios), cpu_processes_over_threads=cpu["two_processes"] / cpu["two_threads"])
    if options.program:
        subprocess.run([options.program, "bench", "python", "--only", case, "--json"], check=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program")
    options.add_argument("--n", type=int, default=256)
    options.add_argument("--steps", type=int, default=200)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--only", default="")
    options = options.parse_args()
    if options.only in "call":
        step, call = call_overhead(options.rounds)
        say("call", step_us=step, call_us=call)
    if options.only in "wrecking-ball" and options.program:
        here, there = beside_cpp(options.program, options.rounds)
        say("wrecking-ball", cpu_ms_per_step={"python": round(min(here), 3), "cpp": round(min(there), 3)}, python_over_cpp=statistics.median(p / c for p, c in zip(here, there)), each=[round(p / c, 3) for p, c in zip(here, there)])
    for case, joints in (("pendula", 1), ("arms", 7)):
        if options.only in case:
            pools(case, joints, options)


if __name__ == "__main__":
    main()
