"""Joint-space quantities against closed forms and against the simulation."""
import numpy as np
import pytest

import tenon
from common import arm_scene, pendulum_scene

ROD_INERTIA = 2 * (1 + 0.05**2) / 12 + 2 * 0.25  # 2 kg, 1 m by 0.05 m, about its end


def test_rod_closed_forms():
    kin = tenon.Kinematics(pendulum_scene().compile())
    assert (kin.positions, kin.freedoms, kin.names, kin.cut_joints) == (1, 1, ["hinge"], [])
    assert kin.mass_matrix([0.3])[0, 0] == pytest.approx(ROD_INERTIA)
    assert kin.gravity_torques([0.3])[0] == pytest.approx(2 * 9.81 * 0.5 * np.cos(0.3))
    assert kin.inverse_dynamics([0.3], [0], [2])[0] == pytest.approx(2 * ROD_INERTIA + 9.81 * np.cos(0.3))
    assert kin.forward_dynamics([0.3], [0], [0])[0] == pytest.approx(-9.81 * np.cos(0.3) / ROD_INERTIA)
    np.testing.assert_allclose(kin.point([np.pi / 2], "rod", [0.5, 0, 0]), [0, 1, 0], atol=1e-12)


def test_jacobian_is_the_derivative():
    kin = tenon.Kinematics(arm_scene().compile())
    q, step = np.array([0.3, -0.7]), 1e-6
    jacobian = kin.jacobian(q, "lower", [0.2, 0, 0])
    for k in range(2):
        ahead, behind = q.copy(), q.copy()
        ahead[k] += step
        behind[k] -= step
        difference = (kin.point(ahead, "lower", [0.2, 0, 0]) - kin.point(behind, "lower", [0.2, 0, 0])) / (2 * step)
        np.testing.assert_allclose(jacobian[:3, k], difference, atol=1e-9)
    np.testing.assert_allclose(jacobian[3:], [[0, 0], [0, 0], [1, 1]], atol=1e-12)


def test_coriolis_and_mass_matrix_agree_with_inverse_dynamics():
    kin = tenon.Kinematics(arm_scene().compile())
    q, v, a = [0.3, -0.7], [1.0, 2.0], [0.5, -0.25]
    total = kin.mass_matrix(q) @ a + kin.coriolis_torques(q, v) + kin.gravity_torques(q)
    np.testing.assert_allclose(kin.inverse_dynamics(q, v, a), total, rtol=1e-12)


def test_state_and_joint_coordinates():
    model = arm_scene().compile()
    kin, state = tenon.Kinematics(model), model.state()
    kin.set(state, [0.3, -0.7], [1.0, 2.0])
    np.testing.assert_allclose(kin.q(state), [0.3, -0.7], atol=1e-12)
    np.testing.assert_allclose(kin.v(state), [1.0, 2.0], atol=1e-12)
    np.testing.assert_allclose(state.joint_positions, [0.3, -0.7], atol=1e-12)
    np.testing.assert_allclose(state.body("lower").frame, kin.frame([0.3, -0.7], "lower"), atol=1e-12)
    tenon.step(model, state)  # whole joints: it is taken


def test_free_and_ball_joints():
    scene = tenon.Scene({"gravity": [0, 0, 0], "bodies": [
        {"name": "base", "shape": {"type": "box", "size": [0.3, 0.2, 0.1]}},
        {"name": "rod", "shape": {"type": "box", "size": [1, 0.1, 0.1]}, "position": [0.65, 0, 0]}],
        "joints": [{"name": "ball", "type": "ball", "bodies": ["base", "rod"], "point": [0.15, 0, 0]}]})
    model = scene.compile("articulated", dt=0.001)
    kin, state = tenon.Kinematics(model), model.state()
    assert (kin.positions, kin.freedoms) == (11, 9)
    rng = np.random.default_rng(1)
    q = kin.integrate(kin.zero(), rng.normal(size=9), 0.3)
    v = rng.normal(size=9)
    kin.set(state, q, v)
    assert np.abs(kin.difference(kin.q(state), q)).max() < 1e-12
    np.testing.assert_allclose(kin.v(state), v, atol=1e-12)
    tenon.step(model, state)
    ahead = kin.integrate(q, v, model.dt)
    assert np.abs(kin.difference(kin.q(state), ahead)).max() < 1e-4


def test_inverse_kinematics_reaches():
    kin = tenon.Kinematics(arm_scene().compile())
    goal = kin.point([0.5, 0.9], "lower", [0.2, 0, 0])
    found = kin.inverse_kinematics([0.1, 0.3], "lower", goal, point=[0.2, 0, 0])
    assert found["converged"] and found["error"] < 1e-8
    np.testing.assert_allclose(kin.point(found["q"], "lower", [0.2, 0, 0]), goal, atol=1e-8)
    far = kin.inverse_kinematics([0.1, 0.3], "lower", [5, 0, 0], point=[0.2, 0, 0])
    assert not far["converged"] and far["error"] > 1
    turned = kin.inverse_kinematics([0.1, 0.3], "lower", kin.frame([0.5, 0.9], "lower")[:, 3],
                                    rotation=[np.cos(0.7), 0, 0, np.sin(0.7)])
    np.testing.assert_allclose(turned["q"], [0.5, 0.9], atol=1e-6)


def test_trajectory_keeps_its_limits():
    kin = tenon.Kinematics(arm_scene().compile())
    path = kin.joint_trajectory([0, 0], [1, -0.5], [1.0, 1.0], [4.0, 4.0], dt=0.01)
    assert np.abs(path["v"]).max() <= 1 + 1e-9
    np.testing.assert_allclose(path["q"][-1], [1, -0.5], atol=1e-12)
    np.testing.assert_allclose(np.diff(path["q"], axis=0)[10] / 0.01, path["v"][10], atol=0.05)


def test_a_line_is_straight():
    kin = tenon.Kinematics(arm_scene().compile())
    start, tip = [0.4, 0.8], [0.2, 0, 0]
    first = kin.point(start, "lower", tip)
    goal = first + [-0.1, 0.05, 0]
    line = kin.line_trajectory(start, "lower", goal, max_speed=0.5, max_acceleration=2.0, dt=0.01, point=tip)
    points = np.array([kin.point(q, "lower", tip) for q in line["q"]])
    along = (goal - first) / np.linalg.norm(goal - first)
    np.testing.assert_allclose(points - first, np.outer((points - first) @ along, along), atol=1e-8)
    np.testing.assert_allclose(points[-1], goal, atol=1e-8)
    speeds = np.linalg.norm(np.diff(points, axis=0), axis=1) / 0.01
    assert speeds.max() <= 0.5 + 1e-9 and np.abs(line["v"][0]).max() == 0
    with pytest.raises(RuntimeError, match="leaves reach"):
        kin.line_trajectory(start, "lower", [9, 0, 0], max_speed=0.5, max_acceleration=2.0, dt=0.01, point=tip)


def test_several_targets_at_once():
    kin = tenon.Kinematics(arm_scene().compile())
    wanted = np.array([0.5, 0.9])
    bodies, points = ["upper", "lower"], [[0.1, 0, 0], [0.2, 0, 0]]
    places = [kin.point(wanted, body, point) for body, point in zip(bodies, points)]
    found = kin.inverse_kinematics([0.1, 0.3], bodies, places, point=points)
    assert found["converged"]
    np.testing.assert_allclose(found["q"], wanted, atol=1e-6)
    with pytest.raises(ValueError, match="one for each of the 2 bodies"):
        kin.inverse_kinematics([0.1, 0.3], bodies, places[:1])


def test_gravity_torque_holds_the_arm():
    """Torques g(q) leave the arm where it is."""
    scene = arm_scene()
    for name in ("shoulder-motor", "elbow-motor"):
        scene.remove_actuator(name)
    for name in ("shoulder", "elbow"):
        scene.add_actuator({"name": name, "type": "torque", "joint": name})
    model = scene.compile(dt=0.001)
    kin, state = tenon.Kinematics(model), model.state()
    q = np.array([0.4, 0.8])
    kin.set(state, q)
    state.targets = kin.gravity_torques(q)
    tenon.step(model, state, n=200)
    np.testing.assert_allclose(kin.q(state), q, atol=1e-6)


def test_misfits_are_refused():
    model = arm_scene().compile()
    kin = tenon.Kinematics(model)
    with pytest.raises(ValueError, match="q has the shape"):
        kin.mass_matrix([1, 2, 3])
    with pytest.raises(ValueError, match="another model"):
        kin.q(pendulum_scene().compile().state())
    with pytest.raises(tenon.InputError, match="no body named"):
        kin.point([0, 0], "nobody")
