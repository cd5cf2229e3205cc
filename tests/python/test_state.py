"""States: copies, saving, threads, faults, Ctrl-C."""
import copy
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import tenon
from common import arm_scene, boxes_scene, falling_ball, pendulum_scene


def bits(state):
    return state.q.tobytes() + state.rate.tobytes()


def test_rod_swings_as_the_closed_form():
    """Small swings of a uniform rod about its end: period 2 pi sqrt(2 L / 3 g)."""
    scene = pendulum_scene()
    scene.set("joints[0].position", -np.pi / 2 + 0.05)
    model = scene.compile()
    state = model.state()
    angles = []
    for _ in range(2000):
        tenon.step(model, state)
        angles.append(state.joint("hinge").position + np.pi / 2)
    down = [i for i in range(1, 2000) if angles[i - 1] > 0 >= angles[i]]
    period = (down[1] - down[0]) * model.dt
    assert period == pytest.approx(2 * np.pi * np.sqrt(2 / (3 * 9.81)), abs=2 * model.dt)


def test_copy_goes_on_alike_and_alone():
    model = arm_scene().compile()
    state = model.state()
    state.targets = [0.3, -0.4]
    tenon.step(model, state, n=20)
    twin = state.copy()
    for other in (twin, copy.copy(state), copy.deepcopy(state)):
        assert bits(other) == bits(state)
    tenon.step(model, state, n=20)
    before = bits(twin)
    assert before != bits(state)
    tenon.step(model, twin, n=20)
    assert bits(twin) == bits(state)


def test_save_and_load_go_on_bit_for_bit():
    model = arm_scene().compile()
    state = model.state()
    state.targets = [0.3, -0.4]
    state.gravity = [0, -5, 0]
    state.masses *= 1.5
    tenon.step(model, state, n=20)
    saved = state.save()
    tenon.step(model, state, n=20)
    again = model.load(saved)
    assert again.time == pytest.approx(20 * model.dt)
    assert (again.masses == state.masses).all() and (again.gravity == [0, -5, 0]).all()
    tenon.step(model, again, n=20)
    assert bits(again) == bits(state)


def test_other_bytes_are_refused():
    model = arm_scene().compile()
    state = model.state()
    saved = state.save()
    for bad in (b"", b"nonsense", saved[:-1], saved[:40] + b"\xff" + saved[41:], falling_ball().state().save()):
        with pytest.raises(tenon.InputError) as caught:
            state.load(bad)
        assert caught.value.path == "state" and caught.value.cure
    tenon.step(model, state)


def test_reset_brings_back_the_start():
    model = arm_scene().compile()
    state = model.state()
    start = bits(state)
    state.targets = [0.3, -0.4]
    state.gravity = [0, -5, 0]
    tenon.step(model, state, n=5)
    state.reset(keep_overrides=True)
    assert bits(state) == start and (state.gravity == [0, -5, 0]).all() and (state.targets == 0).all()
    state.reset()
    assert (state.gravity == [0, -9.81, 0]).all() and state.time == 0
    tenon.step(model, state, n=5)
    fresh = model.state()
    tenon.step(model, fresh, n=5)
    assert bits(fresh) == bits(state)


def test_state_like_another():
    scene = arm_scene()
    old = scene.compile()
    state = old.state()
    tenon.step(old, state, n=10)
    scene.add_body({"name": "ball", "shape": {"type": "sphere", "radius": 0.05}, "position": [0, -3, 0]})
    new = scene.compile()
    grown = new.state(like=state)
    assert grown.time == state.time
    assert (grown.body("lower").pose == state.body("lower").pose).all()
    np.testing.assert_allclose(grown.body("ball").position, [0, -3, 0], atol=1e-12)
    tenon.step(new, grown)


def test_bodies_come_and_go_in_a_simulation():
    sim = tenon.Simulation(boxes_scene())
    sim.velocities[1, 0] = 1
    sim.step(5)
    old = sim.positions
    sim.add_body({"name": "c", "shape": {"type": "box", "size": [1, 1, 1]}, "position": [0, 5, 0]})
    assert sim.positions.shape == (3, 3) and old.shape == (2, 3)
    assert (sim.positions[:2] == old).all()
    sim.step(5)
    assert sim.body("b").position[0] == pytest.approx(1.2, abs=1e-6)
    sim.remove_body("a")
    assert sim.model.bodies == ["b", "c"]
    sim.step()
    with pytest.raises(tenon.InputError, match="no body named 'a'"):
        sim.remove_body("a")


def test_simulation_and_state_are_one():
    sim = tenon.Simulation(arm_scene())
    sim.actuator("elbow-motor").target = 0.2
    sim.step(3)
    assert (sim.positions == sim.state.positions).all() and sim.time == sim.state.time
    assert sim.report["steps"] == 3 and sim.report["method"] == "articulated"
    saved = sim.save()
    sim.reset()
    assert sim.time == 0 and sim.report["steps"] == 0
    sim.load(saved)
    assert sim.steps == 3


def test_input_errors_have_their_parts():
    with pytest.raises(tenon.InputError) as caught:
        tenon.Scene({"bodies": [{"name": "a", "shape": {"type": "spere"}}]})
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.path.startswith("bodies[0].shape") and "spere" in error.problem and "sphere" in error.cure
    assert error.path in str(error) and error.file == "dict"


def test_names_are_suggested():
    state = arm_scene().compile().state()
    with pytest.raises(tenon.InputError, match="did you mean 'elbow'"):
        state.joint("elbov")
    with pytest.raises(tenon.InputError, match="upper"):
        state.body("uper")


def test_step_failure_names_its_body_and_keeps_the_state():
    """A force beyond all numbers."""
    model = pendulum_scene().compile()
    state = model.state()
    tenon.step(model, state)
    before = bits(state)
    state.forces[0] = [0, 1e308, 0]
    with pytest.raises(tenon.StepFailure, match="finite") as caught:
        tenon.step(model, state, n=3)
    assert isinstance(caught.value, RuntimeError) and caught.value.body == "rod"
    assert bits(state) == before and state.steps == 1
    state.forces = [[0, 0, 0]]
    tenon.step(model, state)


def test_threads_step_different_states_of_one_model():
    model = arm_scene().compile()
    alone = model.state()
    tenon.step(model, alone, n=200)
    states = [model.state() for _ in range(4)]
    threads = [threading.Thread(target=tenon.step, args=(model, state), kwargs={"n": 200}) for state in states]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(bits(state) == bits(alone) for state in states)


def test_other_threads_go_on_during_a_step():
    """The GIL is released: this thread counts while another steps."""
    sim = tenon.Simulation("wrecking-ball", method="affine", dt=0.01)
    stepping = threading.Thread(target=sim.step, args=(30,))
    stepping.start()
    turns = 0
    while stepping.is_alive():
        turns += 1
        time.sleep(0.001)
    assert turns > 10


def test_two_threads_on_one_state_are_refused():
    model = tenon.Scene.load("wrecking-ball").compile("affine", dt=0.01)
    state = model.state()
    stepping = threading.Thread(target=tenon.step, args=(model, state), kwargs={"n": 400})
    stepping.start()
    time.sleep(0.05)
    with pytest.raises(RuntimeError, match="another thread is working with this state"):
        while stepping.is_alive():
            tenon.step(model, state)
    with pytest.raises(RuntimeError, match="another thread"):
        while stepping.is_alive():
            state.contacts
    stepping.join()
    assert state.steps >= 400


def test_ctrl_c_ends_steps_and_keeps_the_state():
    model = tenon.Scene.load("wrecking-ball").compile("affine", dt=0.01)
    state = model.state()
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        tenon.step(model, state, n=100000)
    assert time.monotonic() - started < 5
    assert state.time == pytest.approx(state.steps * 0.01)
    tenon.step(model, state)


def long_step():
    """A stack whose one step asks for more sweeps than anyone waits for."""
    floor = {"name": "floor", "type": "static", "shape": {"type": "box", "size": [4, 1, 4]}, "position": [0, -0.5, 0]}
    scene = tenon.Scene({"bodies": [floor]})
    for i in range(40):
        scene.add_body({"name": f"box-{i}", "shape": {"type": "box", "size": [0.5, 0.1, 0.5]}, "position": [0.01 * (i % 3), 0.05 + 0.1 * i, 0]})
    return scene.compile({"type": "impulse", "solver": "pgs", "iterations": 100000}, dt=0.01)


def test_ctrl_c_within_one_long_step():
    model = long_step()
    state = model.state()
    before = bits(state)
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        tenon.step(model, state)
    assert time.monotonic() - started < 2
    assert state.steps == 0 and bits(state) == before


def test_ctrl_c_ends_a_pool():
    pool = tenon.Pool(long_step(), 8, threads=2)
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        pool.step(100000)
    assert time.monotonic() - started < 2


def test_a_handler_that_does_not_raise_lets_steps_go_on():
    calls = []
    before = signal.signal(signal.SIGINT, lambda *_: calls.append(1))
    try:
        model = tenon.Scene.load("wrecking-ball").compile("affine", dt=0.01)
        state = model.state()
        timer = threading.Timer(0.05, signal.raise_signal, [signal.SIGINT])
        timer.start()
        asked = 0
        while not calls and asked < 3000:  # however fast the machine is
            tenon.step(model, state, n=30)
            asked += 30
        assert state.steps == asked and calls == [1]
    finally:
        timer.join()  # a late signal would meet the handler of before
        signal.signal(signal.SIGINT, before)


def test_what_is_not_pickled_says_so():
    model = falling_ball()
    for thing in (model, model.state(), tenon.Pool(model, 1), tenon.Simulation("physical-pendulum"), tenon.Kinematics(pendulum_scene().compile())):
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(thing)


def test_reprs_tell_something():
    model = arm_scene().compile()
    state = model.state()
    assert repr(model) == "<tenon.Model 'arm': 2 bodies, 2 joints, 0 elastic, articulated with dt 0.005 s>"
    assert "at 0 s, step 0: 2 bodies" in repr(state)
    assert repr(state.actuator("elbow-motor")) == "<actuator 'elbow-motor', target 0>"
    assert repr(model.joint("elbow")) == "<joint 'elbow': hinge of 'upper' and 'lower'>"
    assert model.joint("elbow").limits == (-2, 2.5) and model.joint("shoulder").limits is None
    assert model.actuator("elbow-motor").target_limits == (-2, 2)
