"""Environments keep to Gymnasium's interface; scripted policies solve them, by friction."""
import numpy as np
import pytest

from tenon import gym


@pytest.mark.parametrize("name", list(gym.TASKS))
def test_interface(name):
    gym.check_env(gym.make(name), steps=15)


@pytest.mark.parametrize("name", list(gym.TASKS))
def test_gymnasium_agrees(name):
    checker = pytest.importorskip("gymnasium.utils.env_checker")
    checker.check_env(gym.make(name), skip_render_check=True)


def solve(name, n=2, seed=5, steps=250, **options):
    env = gym.make_vec(name, n, threads=2, **options)
    observation, _ = env.reset(seed=seed)
    solved = np.zeros(n, bool)
    for _ in range(steps):
        observation, reward, terminated, truncated, info = env.step(env.task.scripted(observation))
        solved |= terminated
        if (solved | truncated).all():
            break
    return solved


@pytest.mark.parametrize("name", list(gym.TASKS))
def test_scripted_policy_solves_it(name):
    assert solve(name).all()


@pytest.mark.parametrize("name", list(gym.TASKS))
def test_without_friction_nothing_is_held(name):
    assert not solve(name, friction=0.05).any()


@pytest.mark.parametrize("name", list(gym.TASKS))
def test_vector_equals_single(name):
    vector = gym.make_vec(name, 3, threads=2)
    observations, _ = vector.reset(seed=11)
    single = gym.make(name)
    observation, _ = single.reset(seed=12)
    rng = np.random.default_rng(0)
    assert np.array_equal(observations[1], observation)
    for _ in range(10):
        actions = rng.uniform(-1, 1, vector.action_space.shape)
        observations, *_ = vector.step(actions)
        observation, *_ = single.step(actions[1])
        assert np.array_equal(observations[1], observation)


def test_terminal_observations():
    env = gym.make_vec("PegInHole", 2)
    env.task.max_steps = 3
    env.reset(seed=0)
    for _ in range(3):
        observation, reward, terminated, truncated, info = env.step(np.zeros((2, 3)))
    assert truncated.all() and info["_final_observation"].all()
    assert not np.array_equal(info["final_observation"], observation)
    assert (env.task.steps == 0).all()


def test_misuse():
    env = gym.make("PegInHole")
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(np.zeros(3))
    env.reset(seed=0)
    with pytest.raises(ValueError, match="shape"):
        env.step(np.zeros(4))
    with pytest.raises(ValueError, match="finite"):
        env.step(np.full(3, np.nan))
    with pytest.raises(ValueError, match="known: PegInHole"):
        gym.make("PegInWhole")
    with pytest.raises(ValueError, match="2 seeds for 3"):
        gym.make_vec("PegInHole", 3).reset(seed=[1, 2])
