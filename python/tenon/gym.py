"""Environments with Gymnasium's interface: with the package they are its Env and Box, without it they work alike.

>>> from tenon import gym
>>> env = gym.make("PegInHole")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
>>> observation.shape
(9,)

Tools (a peg's wrist, the two fingers of a gripper) are bodies that springs and dampers pull to where the action wants them, with
bounded force; everything else is contact between meshes."""
import copy
import json

import numpy as np

import tenon

try:
    import gymnasium
    from gymnasium.spaces import Box

    _Env = gymnasium.Env
except ImportError:
    gymnasium = None

    class Box:
        """A box of real vectors."""

        def __init__(self, low, high, shape=None, dtype=np.float64, seed=None):
            shape = np.broadcast(np.asarray(low), np.asarray(high)).shape if shape is None else tuple(shape)
            self.low = np.broadcast_to(low, shape).astype(dtype)
            self.high = np.broadcast_to(high, shape).astype(dtype)
            self.shape, self.dtype = shape, np.dtype(dtype)
            self._random = np.random.default_rng(seed)

        def sample(self):
            low, high = np.maximum(self.low, -1e3), np.minimum(self.high, 1e3)
            return self._random.uniform(low, high).astype(self.dtype)

        def contains(self, value):
            value = np.asarray(value)
            return bool(value.shape == self.shape and np.can_cast(value.dtype, self.dtype)
                        and (value >= self.low).all() and (value <= self.high).all())

        def seed(self, seed=None):
            self._random = np.random.default_rng(seed)
            return [seed]

        def __contains__(self, value):
            return self.contains(value)

        def __repr__(self):
            return f"Box({self.low.min()}, {self.high.max()}, {self.shape}, {self.dtype})"

        def __eq__(self, other):
            return (isinstance(other, Box) and self.shape == other.shape and self.dtype == other.dtype
                    and (self.low == other.low).all() and (self.high == other.high).all())

    class _Env:
        """What Gymnasium's Env has for others to build on."""

        metadata = {"render_modes": []}
        render_mode = None
        spec = None

        @property
        def unwrapped(self):
            return self

        def render(self):
            return None

        def close(self):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.close()


def _hollow_block(size, hole, height):
    """A block with a square hole through it along y: 16 vertices, 32 triangles, closed."""
    a, b, h = size / 2, hole / 2, height / 2
    ring = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    vertices = [[s * x, y, s * z] for y in (-h, h) for s in (a, b) for x, z in ring]
    quads = []
    for i in range(4):
        j = (i + 1) % 4
        quads.append((i, j, 8 + j, 8 + i))          # outside
        quads.append((4 + j, 4 + i, 12 + i, 12 + j))  # inside
        quads.append((4 + i, 4 + j, j, i))          # below
        quads.append((8 + i, 8 + j, 12 + j, 12 + i))  # above
    triangles = [t for p, q, r, s in quads for t in ((p, r, q), (p, s, r))]
    return vertices, triangles


class _Task:
    """n environments in one pool. A task says what the scene is, what actions and observations mean, when it is solved."""

    substeps = 4          # of the simulation for one action
    max_steps = 300       # actions before an episode is cut off
    action_size = 0
    observation_size = 0

    def __init__(self, n, threads=1, friction=None):
        self.friction = friction
        self.model = self.scene().compile()
        self.pool = tenon.Pool(self.model, n, threads=threads)
        self.dt = self.model.dt
        self.index = {name: i for i, name in enumerate(self.model.bodies)}
        self.mass = self.model.masses
        self.moment = np.array([self.model.body(name).moments.mean() for name in self.model.bodies])
        self.upright = self.pool.q[0, :, :, :3].copy()
        self.random = [np.random.default_rng() for _ in range(n)]
        self.steps = np.zeros(n, int)
        self.wanted = {}

    def scene(self):
        raise NotImplementedError

    def randomize(self, i):
        """Places what is random in environment i, which has just been reset."""

    def aim(self, action):
        """Turns actions of shape (n, action_size) into self.wanted: body name -> (n, 3) positions."""
        raise NotImplementedError

    def observe(self):
        raise NotImplementedError

    def judge(self):
        """Rewards and whether each is solved."""
        raise NotImplementedError

    # A spring and damper with bounded force pulls each tool to its place and keeps it upright.
    frequency, damping, max_force, max_torque = 25.0, 1.0, 20.0, 1.0

    def hold(self):
        pool, w = self.pool, self.frequency
        for name, place in self.wanted.items():
            i = self.index[name]
            m = self.mass[i]
            pull = m * (w * w * (place - pool.positions[:, i]) - 2 * self.damping * w * pool.velocities[:, i])
            size = np.linalg.norm(pull, axis=1, keepdims=True)
            pull *= np.minimum(1, self.max_force / np.maximum(size, 1e-12))
            pull[:, 1] += m * 9.81
            pool.forces[:, i] = pull
            turned = pool.q[:, i, :, :3] @ self.upright[i].T
            spin = pool.rate[:, i, :, :3] @ pool.q[:, i, :, :3].transpose(0, 2, 1)
            angle = 0.5 * np.stack([turned[:, 2, 1] - turned[:, 1, 2], turned[:, 0, 2] - turned[:, 2, 0], turned[:, 1, 0] - turned[:, 0, 1]], 1)
            rate = 0.5 * np.stack([spin[:, 2, 1] - spin[:, 1, 2], spin[:, 0, 2] - spin[:, 2, 0], spin[:, 1, 0] - spin[:, 0, 1]], 1)
            torque = -self.moment[i] * (w * w * angle + 2 * self.damping * w * rate)
            pool.torques[:, i] = np.clip(torque, -self.max_torque, self.max_torque)

    def reset(self, mask, seeds=None):
        self.pool.reset(mask)
        for i in np.flatnonzero(mask):
            if seeds is not None and seeds[i] is not None:
                self.random[i] = np.random.default_rng(seeds[i])
            self.steps[i] = 0
            self.randomize(i)

    def step(self, action):
        self.aim(np.clip(action, -1.0, 1.0))
        failed = np.zeros(len(self.pool), bool)
        for _ in range(self.substeps):
            self.hold()
            self.pool.step(raise_failures=False)
            failed |= np.array([text is not None for text in self.pool.failures])
        self.steps += 1
        reward, solved = self.judge()
        truncated = (self.steps >= self.max_steps) | failed
        return self.observe(), reward, solved, truncated & ~solved, {"is_success": solved, "failed": failed}


class PegInHole(_Task):
    """A square peg between the two fingers of a closed gripper, above a block with a square hole 2 mm wider.

    The action is the gripper's velocity, 1 being 0.2 m/s. The observation is the position of the peg's tip against the hole (3), the
    peg's velocity (3) and the block's force on it (3, N). It is solved when the peg is 30 mm deep in the hole. Only friction holds the peg:
    what the gripper presses with carries five times its weight at a friction of 0.4, and drops it at 0.05."""

    action_size, observation_size = 3, 9
    speed, side, hole, height, length = 0.2, 0.04, 0.042, 0.06, 0.08
    frequency, grip_force = 40.0, 10.0
    apart = 0.0279  # of a finger's centre from the peg's axis, with 0.4 mm between the surfaces
    hold_height = 0.02  # of the fingers over the peg's centre

    def scene(self):
        vertices, triangles = _hollow_block(0.2, self.hole, self.height)
        friction = 0.4 if self.friction is None else self.friction
        finger = {"type": "box", "size": [0.015, 0.03, 0.03]}
        return tenon.Scene({
            "name": "peg-in-hole", "gravity": [0, -9.81, 0], "method": {"type": "affine", "dt": 0.005},
            "contact": {"dhat": 0.0005}, "materials": {"default": {"friction": friction, "density": 2700}},
            "bodies": [
                {"name": "block", "type": "static", "vertices": vertices, "triangles": triangles, "position": [0, -self.height / 2, 0]},
                {"name": "peg", "shape": {"type": "box", "size": [self.side, self.length, self.side]}, "mass": 0.16, "position": [0, 0.1, 0]},
                {"name": "left", "shape": finger, "mass": 0.3, "position": [-self.apart, 0.1 + self.hold_height, 0]},
                {"name": "right", "shape": finger, "mass": 0.3, "position": [self.apart, 0.1 + self.hold_height, 0]}],
            "sensors": [{"name": "touch", "type": "contact_force", "bodies": ["block", "peg"]}]})

    def randomize(self, i):
        self.pool.positions[i, 1:, [0, 2]] += self.random[i].uniform(-0.03, 0.03, 2)[:, None]
        if not self.wanted:
            self.center = np.zeros((len(self.pool), 3))
        self.center[i] = self.pool.positions[i, 2:].mean(axis=0)
        self.close()

    def close(self):
        """Wanted places of the fingers: inside the peg, so that their springs press."""
        half = np.array([self.apart - self.grip_force / (self.mass[2] * self.frequency**2), 0, 0])
        self.wanted = {"left": self.center - half, "right": self.center + half}

    def aim(self, action):
        now = self.pool.positions[:, 2:].mean(axis=1)
        place = self.center + action * self.speed * self.dt * self.substeps
        # no farther ahead of the gripper than its force can follow
        self.center = np.clip(place, now - 0.02, now + 0.02)
        self.close()

    def tip(self):
        down = (self.pool.q[:, 1, :, :3] @ self.upright[1].T)[:, :, 1]
        return self.pool.positions[:, 1] - 0.5 * self.length * down

    def observe(self):
        return np.concatenate([self.tip(), self.pool.velocities[:, 1], self.pool.sensors], axis=1)

    def judge(self):
        tip = self.tip()
        solved = (tip[:, 1] < -0.03) & (np.abs(tip[:, [0, 2]]).max(axis=1) < 0.01)
        return -np.linalg.norm(tip + [0, 0.03, 0], axis=1) + 10.0 * solved, solved

    def scripted(self, observation):
        """A policy that solves it: over the hole first, then down."""
        tip = observation[:, :3]
        action = np.zeros((len(tip), 3))
        action[:, [0, 2]] = np.clip(-tip[:, [0, 2]] * 50, -1, 1)
        aligned = np.abs(tip[:, [0, 2]]).max(axis=1) < 0.0008
        action[:, 1] = np.where(aligned | (tip[:, 1] < -0.002), -0.5, np.where(tip[:, 1] > 0.02, -0.5, 0.0))
        return action


class PickAndPlace(_Task):
    """Two fingers, a cube of 4 cm and a place to put it, 15 cm away on a floor.

    The action is the gripper's velocity (3), 1 being 0.3 m/s, and the wanted opening (1), from -1 closed to 1 open. The observation is
    the gripper's position (3), the opening (1), the cube's position against the gripper (3), its velocity (3) and the goal against the
    cube (3). It is solved when the cube rests within 2 cm of the goal and the gripper is open. Only friction holds the cube."""

    action_size, observation_size = 4, 13
    speed, max_steps = 0.3, 400
    goal = np.array([0.15, 0.02, 0.0])
    max_force = 12.0

    def scene(self):
        friction = 0.8 if self.friction is None else self.friction
        finger = {"type": "box", "size": [0.015, 0.06, 0.03]}
        return tenon.Scene({
            "name": "pick-and-place", "gravity": [0, -9.81, 0], "method": {"type": "affine", "dt": 0.005},
            "contact": {"dhat": 0.0005}, "materials": {"default": {"friction": friction, "density": 1000}},
            "bodies": [
                {"name": "floor", "type": "static", "shape": {"type": "box", "size": [1, 0.1, 1]}, "position": [0, -0.05, 0]},
                {"name": "cube", "shape": {"type": "box", "size": [0.04, 0.04, 0.04]}, "mass": 0.06, "position": [0, 0.0205, 0]},
                {"name": "left", "shape": finger, "mass": 0.3, "position": [-0.045, 0.15, 0]},
                {"name": "right", "shape": finger, "mass": 0.3, "position": [0.045, 0.15, 0]}]})

    def randomize(self, i):
        self.pool.positions[i, 1, [0, 2]] = self.random[i].uniform(-0.03, 0.03, 2)
        if "left" not in self.wanted:
            self.center = np.tile([0.0, 0.15, 0.0], (len(self.pool), 1))
            self.opening = np.full(len(self.pool), 0.09)
            self.wanted = {"left": self.pool.positions[:, 2].copy(), "right": self.pool.positions[:, 3].copy()}
        self.center[i], self.opening[i] = [0, 0.15, 0], 0.09

    def aim(self, action):
        now = 0.5 * (self.pool.positions[:, 2] + self.pool.positions[:, 3])
        place = self.center + action[:, :3] * self.speed * self.dt * self.substeps
        self.center = np.clip(place, now - 0.03, now + 0.03)
        self.center = np.clip(self.center, [-0.3, 0.035, -0.3], [0.3, 0.3, 0.3])
        wanted = 0.06 + 0.03 * action[:, 3]  # 0.03 .. 0.09 between the fingers' centres
        self.opening += np.clip(wanted - self.opening, -0.004, 0.004)
        half = np.zeros_like(self.center)
        half[:, 0] = self.opening / 2
        self.wanted = {"left": self.center - half, "right": self.center + half}

    def observe(self):
        left, right, cube = (self.pool.positions[:, k] for k in (2, 3, 1))
        middle = 0.5 * (left + right)
        return np.concatenate([middle, (right - left)[:, :1], cube - middle, self.pool.velocities[:, 1], self.goal - cube], axis=1)

    def judge(self):
        cube, speed = self.pool.positions[:, 1], np.linalg.norm(self.pool.velocities[:, 1], axis=1)
        off = np.linalg.norm((self.goal - cube)[:, [0, 2]], axis=1)
        opening = (self.pool.positions[:, 3] - self.pool.positions[:, 2])[:, 0]
        solved = (off < 0.02) & (cube[:, 1] < 0.025) & (speed < 0.05) & (opening > 0.07)
        return -off + 10.0 * solved, solved

    def scripted(self, observation):
        """A policy that solves it: down, grip, up, over, down, let go."""
        middle, opening, cube, goal = observation[:, :3], observation[:, 3], observation[:, 4:7], observation[:, 10:13]
        action = np.zeros((len(middle), 4))
        for i in range(len(middle)):
            away = np.linalg.norm(goal[i, [0, 2]])
            over = np.abs(cube[i, [0, 2]]).max() < 0.006
            low = middle[i, 1] < 0.042
            gripped = opening[i] < 0.058
            if away < 0.012:  # there: down, open, up
                down = cube[i, 1] + middle[i, 1] < 0.0225
                action[i] = [0, 0.5 if down and opening[i] > 0.075 else (0 if down else -0.15), 0, 1 if down else -1]
            elif not gripped:
                aim = np.clip(cube[i, [0, 2]] * 15, -1, 1)
                action[i] = [aim[0], 0 if low else (-0.8 if over else 0), aim[1], -1 if low and over else 1]
            else:
                held = middle[i, 1] > 0.08
                aim = np.clip(goal[i, [0, 2]] * 8, -0.6, 0.6) * held
                action[i] = [aim[0], 0.4 if not held else 0, aim[1], -1]
        return action


TASKS = {"PegInHole": PegInHole, "PickAndPlace": PickAndPlace}


def _task(name):
    if isinstance(name, type) and issubclass(name, _Task):
        return name
    if name not in TASKS:
        raise ValueError(f"there is no environment '{name}'; known: {', '.join(TASKS)}")
    return TASKS[name]


def _spaces(task):
    return (Box(-np.inf, np.inf, (task.observation_size,), np.float64), Box(-1.0, 1.0, (task.action_size,), np.float64))


class Env(_Env):
    """One environment."""

    def __init__(self, task, **options):
        self.task = _task(task)(1, **options)
        self.observation_space, self.action_space = _spaces(self.task)
        self._over = True

    def reset(self, *, seed=None, options=None):
        """The first observation and an info dict. A seed makes the episode that follows, and those after it, the same again."""
        if gymnasium is not None:
            super().reset(seed=seed)
        self.task.reset(np.array([True]), [seed])
        self._over = False
        return self.task.observe()[0], {}

    def step(self, action):
        """observation, reward, terminated, truncated, info."""
        action = np.asarray(action, dtype=np.float64)
        if action.shape != self.action_space.shape:
            raise ValueError(f"an action has the shape {self.action_space.shape}, but was given {action.shape}")
        if not np.isfinite(action).all():
            raise ValueError("an action is finite")
        if self._over:
            raise RuntimeError("the episode is over: call reset")
        observation, reward, terminated, truncated, info = self.task.step(action[None])
        self._over = bool(terminated[0] or truncated[0])
        return observation[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), {key: bool(value[0]) for key, value in info.items()}


class VectorEnv:
    """n environments in one pool. One that ends begins anew at once: its last observation is in info["final_observation"]."""

    def __init__(self, task, n, threads=1, **options):
        self.task = _task(task)(n, threads=threads, **options)
        self.num_envs = n
        self.single_observation_space, self.single_action_space = _spaces(self.task)
        self.observation_space = Box(-np.inf, np.inf, (n, self.task.observation_size), np.float64)
        self.action_space = Box(-1.0, 1.0, (n, self.task.action_size), np.float64)

    def reset(self, *, seed=None, options=None):
        """Observations of shape (n, k). Environment i is seeded with seed + i, or with the i-th of a list."""
        seeds = [None] * self.num_envs if seed is None else [seed + i for i in range(self.num_envs)] if np.isscalar(seed) else list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for {self.num_envs} environments")
        self.task.reset(np.ones(self.num_envs, bool), seeds)
        return self.task.observe(), {}

    def step(self, actions):
        """Observations, rewards, terminated, truncated and an info dict of arrays."""
        actions = np.asarray(actions, dtype=np.float64)
        if actions.shape != self.action_space.shape:
            raise ValueError(f"actions have the shape {self.action_space.shape}, but were given {actions.shape}")
        if not np.isfinite(actions).all():
            raise ValueError("actions are finite")
        observation, reward, terminated, truncated, info = self.task.step(actions)
        over = terminated | truncated
        info = {key: value.copy() for key, value in info.items()}
        if over.any():
            info["final_observation"] = observation.copy()
            info["_final_observation"] = over.copy()
            self.task.reset(over)
            observation = np.where(over[:, None], self.task.observe(), observation)
        return observation, reward, terminated, truncated, info

    def close(self):
        pass


def make(task, **options):
    """An environment by name: PegInHole, PickAndPlace. Options: friction."""
    return Env(task, **options)


def make_vec(task, n, threads=1, **options):
    """n of them, stepped as one batch."""
    return VectorEnv(task, n, threads=threads, **options)


def check_env(env, steps=50, seed=0):
    """Raises AssertionError where an environment does not keep to Gymnasium's interface."""
    observation, info = env.reset(seed=seed)
    assert isinstance(info, dict)
    assert env.observation_space.contains(observation), "the first observation is not of the observation space"
    again, _ = env.reset(seed=seed)
    assert np.array_equal(observation, again), "the same seed gives another start"
    actions = [env.action_space.sample() for _ in range(steps)]
    trails = []
    for _ in range(2):
        env.reset(seed=seed)
        trail = []
        for action in actions:
            kept = copy.deepcopy(action)
            result = env.step(action)
            assert len(result) == 5, "step gives five things"
            observation, reward, terminated, truncated, info = result
            assert np.array_equal(kept, action), "an action was changed"
            assert env.observation_space.contains(observation), "an observation is not of the observation space"
            assert isinstance(reward, float) and np.isfinite(reward), "a reward is a finite float"
            assert isinstance(terminated, bool) and isinstance(truncated, bool), "terminated and truncated are bools"
            assert isinstance(info, dict)
            json.dumps(info)
            trail.append((observation, reward, terminated, truncated))
            if terminated or truncated:
                break
        trails.append(trail)
    for first, second in zip(*trails):
        assert np.array_equal(first[0], second[0]) and first[1:] == second[1:], "the same seed and actions give another episode"
    env.close()
