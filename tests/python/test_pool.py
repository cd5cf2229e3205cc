"""Pools: the same bits in any place, for any n, on any number of threads."""
import threading

import numpy as np
import pytest

import tenon
from common import arm_scene, boxes_scene, falling_ball


def drive(pool, steps=12):
    """Environment i of any pool gets what depends on i alone."""
    n = len(pool)
    seeds = np.arange(n) % 7
    pool.targets = np.stack([0.1 * seeds, -0.05 * seeds], axis=1)
    pool.gravity[:, 1] = -9.81 + seeds
    pool.masses[:, 1] = 1 + 0.1 * seeds
    for _ in range(steps):
        pool.step()
    return pool.q.copy(), pool.rate.copy()


@pytest.fixture(scope="module")
def model():
    return arm_scene().compile()


@pytest.fixture(scope="module")
def one_by_one(model):
    """The seven kinds of environment, each in a pool of its own."""
    results = []
    for seed in range(7):
        pool = tenon.Pool(model, 1)
        pool.targets = [[0.1 * seed, -0.05 * seed]]
        pool.gravity[:, 1] = -9.81 + seed
        pool.masses[:, 1] = 1 + 0.1 * seed
        for _ in range(12):
            pool.step()
        results.append((pool.q[0].copy(), pool.rate[0].copy()))
    return results


@pytest.mark.parametrize("n", [1, 7, 256])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_bits_do_not_depend_on_place_n_or_threads(model, one_by_one, n, threads):
    q, rate = drive(tenon.Pool(model, n, threads=threads))
    for i in range(n):
        assert q[i].tobytes() == one_by_one[i % 7][0].tobytes()
        assert rate[i].tobytes() == one_by_one[i % 7][1].tobytes()


def test_bits_equal_those_of_a_single_state(model):
    state = model.state()
    pool = tenon.Pool(model, 3, threads=2)
    tenon.step(model, state, n=10)
    pool.step(10)
    assert all(pool[i].q.tobytes() == state.q.tobytes() for i in range(3))


def test_contacts_do_not_depend_on_the_pool():
    model = tenon.Scene({"bodies": [
        {"name": "floor", "type": "static", "shape": {"type": "box", "size": [4, 1, 4]}, "position": [0, -0.5, 0]},
        {"name": "a", "shape": {"type": "box", "size": [0.2, 0.2, 0.2]}, "position": [0, 0.12, 0]},
        {"name": "b", "shape": {"type": "box", "size": [0.2, 0.2, 0.2]}, "position": [0.03, 0.35, 0.02]}]}).compile("affine", dt=0.01)
    state = model.state()
    pool = tenon.Pool(model, 5, threads=2)
    tenon.step(model, state, n=25)
    pool.step(25)
    assert len(state.contacts["distance"]) > 0
    assert all(one.q.tobytes() == state.q.tobytes() for one in (pool[i] for i in range(5)))


def test_order_of_resets_does_not_matter(model):
    """An environment that was reset goes on like a fresh one, whatever the others do."""
    fresh = tenon.Pool(model, 1)
    fresh.targets = [[0.2, 0.1]]
    fresh.step(5)
    rng = np.random.default_rng(3)
    pool = tenon.Pool(model, 9, threads=2)
    pool.targets[:] = rng.normal(size=(9, 2)) * 0.1
    for _ in range(4):
        pool.step(int(rng.integers(1, 4)))
        pool.reset(rng.random(9) < 0.5)
    mask = np.zeros(9, bool)
    mask[[2, 7]] = True
    pool.reset(mask)
    pool.targets[mask] = [0.2, 0.1]
    others = pool.q[~mask].copy()
    pool.step(5, mask=mask)
    assert (pool.q[~mask] == others).all()
    for i in (2, 7):
        assert pool.q[i].tobytes() == fresh.q[0].tobytes()
        assert pool.times[i] == pytest.approx(5 * model.dt)


def test_overrides_survive_a_reset_only_when_asked(model):
    pool = tenon.Pool(model, 2)
    pool.masses[1, 0] = 3
    pool.step()
    pool.reset(keep_overrides=True)
    assert pool.masses[1, 0] == 3
    pool.reset()
    assert (pool.masses[1] == model.masses).all()


def test_sensors_and_joints_of_all(model):
    pool = tenon.Pool(model, 4)
    pool.targets[:, 1] = [0, 0.1, 0.2, 0.3]
    pool.step(50)
    angle = model.sensors.index("angle")
    assert pool.sensors.shape == (4, len(model.sensors))
    np.testing.assert_allclose(pool.sensors[:, angle], pool.joint_positions[:, 1], atol=1e-12)
    assert pool.joint_velocities.shape == (4, 2)


def test_one_failure_leaves_the_others_alone():
    model = boxes_scene().compile()
    pool = tenon.Pool(model, 3, threads=2)
    pool.positions[1, 1] = [0.5, 0, 0]
    with pytest.raises(tenon.InputError) as caught:
        pool.step()
    assert caught.value.path.startswith("pool[1].state.q[")
    assert [text is None for text in pool.failures] == [True, False, True]
    assert (pool.times == [0.01, 0, 0.01]).all()
    pool.step(raise_failures=False)
    assert pool.times[2] == pytest.approx(0.02)


def test_two_threads_on_one_pool_are_refused():
    pool = tenon.Pool(tenon.Scene.load("wrecking-ball").compile("affine", dt=0.01), 2)
    thread = threading.Thread(target=pool.step, args=(200,))
    thread.start()
    seen = []
    while thread.is_alive():
        try:
            pool.step()
        except RuntimeError as error:
            seen.append(str(error))
    thread.join()
    assert any("another thread" in text for text in seen)


def test_two_pools_at_once_and_the_thread_count_comes_back(model):
    before = tenon.threads()
    pools = [tenon.Pool(model, 16, threads=2) for _ in range(2)]
    threads = [threading.Thread(target=pool.step, args=(30,)) for pool in pools]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pools[0].q.tobytes() == pools[1].q.tobytes()
    assert tenon.threads() == before


@pytest.mark.parametrize("arguments, words", [((0,), "one state or more"), ((3, 0), "one thread or more"), ((-1,), "one state")])
def test_bad_sizes(arguments, words):
    with pytest.raises(ValueError, match=words):
        tenon.Pool(falling_ball(), *arguments)


def test_bad_masks_and_indices():
    pool = tenon.Pool(falling_ball(), 3)
    with pytest.raises(ValueError, match="2 entries for 3"):
        pool.reset([True, False])
    with pytest.raises(TypeError, match="one bool"):
        pool.reset([0, 1, 2])
    with pytest.raises(IndexError, match="no environment 3 of 3"):
        pool[3]
    assert pool[-1].time == 0 and len(list(pool)) == 3
