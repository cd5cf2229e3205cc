#!/usr/bin/python3
"""What Python adds to a step, and what a pool gains by threads: JSON lines.

    PYTHONPATH=build/python bench/python_bench.py [--n 256] [--steps 200]

`call` compares one call per step with one call for all of them (CPU time, in turn, the smallest of several rounds). `pool` compares one thread,
two threads and two processes on the same pendula in the same run."""
import argparse
import json
import multiprocessing
import time

import tenon


def pendulum():
    return tenon.Scene({
        "name": "rod", "gravity": [0, -9.81, 0], "method": {"type": "articulated", "dt": 0.002},
        "bodies": [{"name": "rod", "shape": {"type": "box", "size": [1, 0.05, 0.05]}, "mass": 2, "position": [0.5, 0, 0]}],
        "joints": [{"name": "hinge", "type": "hinge", "bodies": ["world", "rod"], "point": [0, 0, 0], "axis": [0, 0, 1]}]}).compile()


def call_overhead(rounds=15, count=2000):
    """Microseconds of a call of tenon.step(model, state) beyond its step."""
    model = pendulum()
    state = model.state()
    tenon.step(model, state, n=count)
    step, single, batch = tenon.step, [], []
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(count):
            step(model, state)
        single.append(time.process_time() - start)
        start = time.process_time()
        step(model, state, n=count)
        batch.append(time.process_time() - start)
    return 1e6 * min(batch) / count, 1e6 * (min(single) - min(batch)) / count


def steps_per_second(n, threads, steps):
    pool = tenon.Pool(pendulum(), n, threads=threads)
    pool.step(5)
    start = time.perf_counter()
    for _ in range(steps):
        pool.step()
    return n * steps / (time.perf_counter() - start)


def worker(n, steps, ready, go, results):
    pool = tenon.Pool(pendulum(), n, threads=1)
    pool.step(5)
    ready.put(1)
    go.wait()
    start = time.perf_counter()
    for _ in range(steps):
        pool.step()
    results.put((start, time.perf_counter()))


def two_processes(n, steps):
    context = multiprocessing.get_context("spawn")
    ready, go, results = context.Queue(), context.Event(), context.Queue()
    workers = [context.Process(target=worker, args=(n // 2, steps, ready, go, results)) for _ in range(2)]
    for one in workers:
        one.start()
    for _ in workers:
        ready.get()
    go.set()
    spans = [results.get() for _ in workers]
    for one in workers:
        one.join()
    return n * steps / (max(end for _, end in spans) - min(start for start, _ in spans))


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--n", type=int, default=256)
    options.add_argument("--steps", type=int, default=200)
    options = options.parse_args()
    step, call = call_overhead()
    print(json.dumps({"bench": "python", "case": "call", "step_us": round(step, 3), "call_us": round(call, 3)}), flush=True)
    rates = {"one_thread": [], "two_threads": [], "two_processes": []}
    for _ in range(3):  # in turn, the best of each
        rates["one_thread"].append(steps_per_second(options.n, 1, options.steps))
        rates["two_threads"].append(steps_per_second(options.n, 2, options.steps))
        rates["two_processes"].append(two_processes(options.n, options.steps))
    best = {key: max(values) for key, values in rates.items()}
    print(json.dumps({"bench": "python", "case": "pool", "size": options.n, "steps_per_second": {key: round(value) for key, value in best.items()},
                      "threads_over_processes": round(best["two_threads"] / best["two_processes"], 3)}), flush=True)


if __name__ == "__main__":
    main()
