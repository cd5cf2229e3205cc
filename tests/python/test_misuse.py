"""Forty ways to misuse the module: an exception with words, or it works; never a crash. They run in a process of their own, those with
threads, forks and signals one by one, so that a crash is seen as one."""
import json
import subprocess
import sys

import pytest

HEAD = """
import copy, gc, os, pickle, signal, sys, threading, time
import numpy as np
import tenon
ball = {"name": "ball", "shape": {"type": "sphere", "radius": 0.1}}
scene = tenon.Scene({"bodies": [ball]})
model = scene.compile("impulse", dt=0.01)
state = model.state()
pool = tenon.Pool(model, 2)
def rod():
    return tenon.Scene({"bodies": [{"name": "rod", "shape": {"type": "box", "size": [1, 0.1, 0.1]}, "position": [0.5, 0, 0]}],
        "joints": [{"name": "hinge", "type": "hinge", "bodies": ["world", "rod"], "point": [0, 0, 0], "axis": [0, 0, 1]}]}).compile("articulated")
"""

# code, and the exception with a part of its words; None where it works
CASES = [
    ("state.positions = np.zeros((2, 3))", "ValueError", "shape (1, 3)"),
    ("state.positions = np.zeros((1, 4))", "ValueError", "given (1, 4)"),
    ("state.positions = None", "TypeError", "takes numbers"),
    ("state.positions = [['a', 'b', 'c']]", "TypeError", "takes numbers"),
    ("state.positions = [[1j, 0, 0]]", "TypeError", "takes numbers"),
    ("state.positions = [[1, 2], [3]]", "TypeError", "takes numbers"),
    ("state.body('ball').pose = np.eye(3)", "ValueError", "shape (3, 4)"),
    ("state.positions[0] = np.nan; tenon.step(model, state)", "InputError", "not finite"),
    ("state.rate[0] = np.inf; tenon.step(model, state)", "InputError", "not finite"),
    ("state.q[0] = 0; tenon.step(model, state)", "InputError", "no rotation"),
    ("state.q[0, 0] *= -1; tenon.step(model, state)", "InputError", "no rotation"),
    ("state.masses[0] = -2; tenon.step(model, state)", "InputError", "mass of -2"),
    ("state.forces[0] = np.nan; tenon.step(model, state)", "InputError", "not finite"),
    ("state.time = 3", "AttributeError", ""),
    ("state.body('bal')", "InputError", "did you mean 'ball'"),
    ("state.body(3)", "TypeError", "incompatible"),
    ("state.actuator('x')", "InputError", "no actuator"),
    ("tenon.step(model, state, n=-1)", "ValueError", "negative"),
    ("tenon.step(model, state, n=1.5)", "TypeError", "incompatible"),
    ("tenon.step(model, None)", "TypeError", ""),
    ("tenon.step(None, state)", "ValueError", "another model"),
    ("tenon.step(scene.compile('impulse'), state)", "ValueError", "another model"),
    ("scene.compile(method='magic')", "InputError", "magic"),
    ("scene.compile(method=7)", "TypeError", "name or a dict"),
    ("scene.compile(dt=0)", "InputError", "positive"),
    ("scene.compile(dt=float('nan'))", "InputError", "positive"),
    ("tenon.Scene({'bodies': [dict(ball, mass=float('nan'))]})", "ValueError", "JSON"),
    ("tenon.Scene({'bodies': [dict(ball, position=object())]})", "TypeError", "numbers, texts"),
    ("tenon.Scene(3)", "TypeError", "not int"),
    ("tenon.Scene('no-such-file.json')", "InputError", "no-such-file"),
    ("tenon.Simulation(None)", "TypeError", "NoneType"),
    ("pickle.dumps(state)", "TypeError", "not pickled"),
    ("pickle.loads(pickle.dumps(scene)).compile('impulse')", None, ""),
    ("view = pool.positions; one = pool[1]; del pool; gc.collect(); view[:] = 1; one.positions[0] = 2; tenon.step(model, one)", None, ""),
    ("view = tenon.Simulation(scene).positions; gc.collect(); view += 1; assert view.shape == (1, 3)", None, ""),
    ("body = model.state().body('ball'); gc.collect(); body.velocity = [1, 0, 0]; repr(body)", None, ""),
    ("state.load(b'x' * 1000)", "InputError", "no saved state"),
    ("state.load('text')", "TypeError", "incompatible"),
    ("pool.reset(np.array([1.0, 0.0]))", "TypeError", "one bool"),
    ("tenon.Pool(model, 2**31)", "TypeError", "incompatible"),
    ("tenon.Pool(model, 2, threads=10**6).step()", None, ""),
    ("tenon.Kinematics(rod()).mass_matrix([[1]])", "ValueError", "shape (1)"),
    ("tenon.Kinematics(rod()).inverse_kinematics([0], 'rod', [0, 1, 0], rotation=[0, 0, 0, 0])", "ValueError", "no quaternion"),
    ("tenon.Kinematics(rod()).q(state)", "ValueError", "another model"),
    ("model.state = 1", "AttributeError", ""),
    ("tenon.State()", "TypeError", "No constructor"),
    ("class Mine(tenon.Scene):\n    def __init__(self): pass\nMine().bodies", "TypeError", "__init__"),
    ("tenon.set_threads(-1)", "ValueError", "negative"),
    # two threads on one state
    ("big = tenon.Scene.load('wrecking-ball').compile('affine', dt=0.01); one = big.state()\n"
     "t = threading.Thread(target=tenon.step, args=(big, one), kwargs={'n': 400}); t.start(); time.sleep(0.05)\n"
     "try:\n    while t.is_alive(): tenon.step(big, one)\nfinally: t.join()", "RuntimeError", "another thread"),
    # reading while another thread steps: words, or numbers
    ("big = tenon.Scene.load('wrecking-ball').compile('affine', dt=0.01); one = big.state()\n"
     "t = threading.Thread(target=tenon.step, args=(big, one), kwargs={'n': 20}); t.start()\n"
     "while t.is_alive():\n"
     "    for name in ('contacts', 'energies', 'metrics', 'joint_positions', 'sensors'):\n"
     "        try: getattr(one, name)\n"
     "        except RuntimeError: pass\n"
     "    repr(one), one.positions.sum(), one.time\n", None, ""),
    # the child of a fork steps what its parent made
    ("big = tenon.Scene.load('wrecking-ball').compile('affine', dt=0.01); one = big.state(); tenon.step(big, one, n=2)\n"
     "child = os.fork()\n"
     "if child == 0:\n    tenon.step(big, one, n=3); pool.step(3); os._exit(0 if one.steps == 5 else 1)\n"
     "assert os.waitpid(child, 0)[1] == 0", None, ""),
    # Ctrl-C
    ("big = tenon.Scene.load('wrecking-ball').compile('affine', dt=0.01); one = big.state()\n"
     "threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
     "tenon.step(big, one, n=10**6)", "KeyboardInterrupt", ""),
    ("many = tenon.Pool(model, 64, threads=2)\n"
     "threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
     "many.step(10**8)", "KeyboardInterrupt", ""),
    ("signal.signal(signal.SIGINT, signal.SIG_IGN); tenon.step(model, state, n=3); signal.raise_signal(signal.SIGINT)", None, ""),
]


PLAIN = [i for i, (code, _, _) in enumerate(CASES) if not any(word in code for word in ("threading", "fork", "signal"))]

RUNNER = """
import json, sys, traceback
head, cases = json.load(sys.stdin)
for number, code in cases:
    names = {"__name__": "__main__"}
    exec(head, names)
    said = ""
    try:
        exec(code, names)
    except BaseException as error:
        said = type(error).__name__ + ": " + str(error)
    print(json.dumps([number, said]), flush=True)
"""


@pytest.fixture(scope="module")
def results():
    """What the plain cases said; those after a crash are missing."""
    done = subprocess.run([sys.executable, "-c", RUNNER], input=json.dumps([HEAD, [(i, CASES[i][0]) for i in PLAIN]]),
                          capture_output=True, text=True, timeout=120)
    return dict(json.loads(line) for line in done.stdout.splitlines())


def test_there_are_forty():
    assert len(CASES) >= 40


@pytest.mark.parametrize("number", PLAIN)
def test_plain(number, results):
    code, exception, words = CASES[number]
    assert number in results, "the process ended here: " + code
    said = results[number]
    if exception is None:
        assert said == "", code
    else:
        assert said.startswith(exception) and words in said, (code, said)


@pytest.mark.parametrize("number", [i for i in range(len(CASES)) if i not in PLAIN])
def test_alone(number):
    code, exception, words = CASES[number]
    done = subprocess.run([sys.executable, "-c", HEAD + code], capture_output=True, text=True, timeout=60)
    if exception is None:
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode in (1, 130, -2), (done.returncode, done.stderr)  # -2: Python ends itself by SIGINT
    assert exception in done.stderr and words in done.stderr, done.stderr
