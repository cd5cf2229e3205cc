"""Arrays are views of memory that never moves; what is written into them is checked at the next step."""
import gc
import weakref

import numpy as np
import pytest

import tenon
from common import arm_scene, boxes_scene, falling_ball, pendulum_scene


def address(array):
    return array.__array_interface__["data"][0]


def test_views_share_one_memory():
    model = boxes_scene().compile()
    state = model.state()
    before = address(state.q)
    assert address(state.positions) == before + 9 * 8  # the fourth column of the first pose
    assert address(state.body("b").pose) == before + 12 * 8
    assert address(state.body("b").position) == before + 21 * 8
    assert not state.q.flags.owndata
    tenon.step(model, state, n=3)
    state.reset()
    state.load(state.save())
    assert address(state.q) == before


def test_a_view_follows_the_steps():
    model = falling_ball()
    state = model.state()
    heights = state.positions[:, 1]
    tenon.step(model, state, n=10)
    assert heights[0] == state.body("ball").position[1] < 1


def test_a_view_keeps_its_owner():
    model = falling_ball()
    state = model.state()
    gone = weakref.ref(model)
    view = state.positions
    tenon.step(model, state, n=1)
    expected = view.copy()
    del state, model
    gc.collect()
    np.array([np.ones(1000) for _ in range(100)])  # reuse what was freed
    assert (view == expected).all()
    view[0] = 7
    assert gone() is None  # only the arrays live on


def test_views_of_pools_share_memory():
    pool = tenon.Pool(boxes_scene().compile(), 3)
    assert address(pool.q) == address(pool[0].q)
    assert address(pool[2].q) == address(pool.q) + 2 * 2 * 12 * 8
    assert address(pool[1].gravity) == address(pool.gravity) + 3 * 8
    pool[1].positions[0] = [0, 5, 0]
    assert (pool.positions[1, 0] == [0, 5, 0]).all()


def test_whole_arrays_are_assigned_with_their_shape():
    state = boxes_scene().compile().state()
    state.velocities = [[1, 0, 0], [2, 0, 0]]
    assert (state.velocities[1] == [2, 0, 0]).all()
    with pytest.raises(ValueError, match=r"shape \(2, 3\).*\(3\)"):
        state.velocities = [1, 2, 3]
    with pytest.raises(TypeError, match="takes numbers, not str"):
        state.velocities = "fast"


def test_written_velocity_moves_the_body():
    model = falling_ball(dt=0.01)
    state = model.state()
    state.gravity = [0, 0, 0]
    state.body("ball").velocity = [3, 0, 0]
    tenon.step(model, state, n=100)
    np.testing.assert_allclose(state.body("ball").position, [3, 1, 0], atol=1e-9)


def test_written_spin_turns_the_body():
    """A sphere about z at 2 rad/s for 0.5 s: one radian."""
    model = falling_ball(dt=0.005)
    state = model.state()
    state.body("ball").angular_velocity = [0, 0, 2]
    np.testing.assert_allclose(state.body("ball").angular_velocity, [0, 0, 2])
    tenon.step(model, state, n=100)
    w, x, y, z = state.body("ball").rotation
    assert abs(2 * np.arctan2(z, w)) == pytest.approx(1, abs=0.01)


def test_frame_is_where_the_scene_put_it():
    model = boxes_scene().compile()
    state = model.state()
    np.testing.assert_allclose(state.body("b").frame, np.c_[np.eye(3), [1.1, 0, 0]], atol=1e-12)
    state.body("b").frame = np.c_[np.eye(3), [3, 0, 0]]
    np.testing.assert_allclose(state.body("b").position, [3, 0, 0], atol=1e-12)
    tenon.step(model, state)


def test_intersecting_state_is_refused_and_can_be_mended():
    model = boxes_scene().compile()
    state = model.state()
    state.positions[1] = [0.5, 0.25, 0.125]
    with pytest.raises(tenon.InputError, match="'a' and 'b'|'b' and 'a'") as caught:
        tenon.step(model, state)
    assert caught.value.path.startswith("state.q[")
    assert "apart" in caught.value.cure
    assert state.steps == 0
    state.positions[1] = [2, 0, 0]
    tenon.step(model, state)
    assert state.steps == 1


def test_torn_joint_is_refused():
    model = pendulum_scene().compile()
    state = model.state()
    state.body("rod").position = [0.6, 0, 0]
    with pytest.raises(tenon.InputError, match="joint 'hinge' is torn by 0.1"):
        tenon.step(model, state)


@pytest.mark.parametrize("value, words", [(np.nan, "not finite"), (np.inf, "not finite")])
def test_numbers_must_be_finite(value, words):
    model = falling_ball()
    state = model.state()
    state.positions[0, 0] = value
    with pytest.raises(tenon.InputError, match=words):
        tenon.step(model, state)


def test_rigid_bodies_stay_rigid():
    model = falling_ball()
    state = model.state()
    state.body("ball").pose[:, :3] *= 1.1
    with pytest.raises(tenon.InputError, match="no rotation"):
        tenon.step(model, state)
    state.reset()
    state.body("ball").rate[:, :3] = np.eye(3)
    with pytest.raises(tenon.InputError, match="stretches"):
        tenon.step(model, state)


def test_static_bodies_cannot_be_moved():
    scene = tenon.Scene({"bodies": [{"name": "floor", "type": "static", "shape": {"type": "box", "size": [1, 1, 1]}}]})
    model = scene.compile("impulse")
    state = model.state()
    state.positions[0, 1] += 1
    with pytest.raises(tenon.InputError, match="'floor' is not free"):
        tenon.step(model, state)


def test_energies_are_of_what_is_written():
    model = falling_ball()
    state = model.state()
    state.body("ball").velocity = [2, 0, 0]
    mass = model.body("ball").mass
    assert state.energies["kinetic"] == pytest.approx(0.5 * mass * 4)
    assert state.energies["gravity"] == pytest.approx(mass * 9.81 * 1)


def test_overrides_act():
    """Half the gravity: half the fall. Ten times the mass under the same push: a tenth of the way."""
    model = falling_ball(dt=0.001)
    heavy = model.state()
    heavy.gravity[1] = -4.905
    tenon.step(model, heavy, n=200)
    light = model.state()
    tenon.step(model, light, n=200)
    assert 1 - heavy.positions[0, 1] == pytest.approx((1 - light.positions[0, 1]) / 2, rel=1e-9)

    scene = tenon.Scene({"gravity": [0, 0, 0], "bodies": [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}}],
                         "forces": [{"body": "ball", "force": [1, 0, 0]}]})
    pushed = scene.compile("impulse", dt=0.001)
    plain, loaded = pushed.state(), pushed.state()
    loaded.masses *= 10
    tenon.step(pushed, plain, n=100)
    tenon.step(pushed, loaded, n=100)
    assert loaded.positions[0, 0] == pytest.approx(plain.positions[0, 0] / 10, rel=1e-6)


def test_friction_override_acts():
    """A block that slides on a floor is braked by mu g."""
    scene = tenon.Scene({"gravity": [0, -10, 0], "materials": {"default": {"friction": 0.5}}, "bodies": [
        {"name": "floor", "type": "static", "shape": {"type": "box", "size": [40, 1, 40]}, "position": [0, -0.5, 0]},
        {"name": "block", "shape": {"type": "box", "size": [1, 0.2, 1]}, "position": [0, 0.1, 0], "linear_velocity": [2, 0, 0]}]})
    model = scene.compile("impulse", dt=0.005)
    for mu in (0.5, 0.1, 0.0):
        state = model.state()
        state.friction[:] = mu
        tenon.step(model, state, n=40)
        assert state.velocities[1, 0] == pytest.approx(2 - mu * 10 * 0.2, abs=0.05)


@pytest.mark.parametrize("name, value, words", [("masses", 0, "mass of 0"), ("masses", -1, "mass of -1"), ("masses", np.nan, "mass of nan"),
                                                ("friction", -0.1, "friction of -0.1"), ("gravity", np.nan, "not finite")])
def test_bad_overrides_are_refused(name, value, words):
    model = falling_ball()
    state = model.state()
    getattr(state, name)[0] = value
    with pytest.raises(tenon.InputError, match=words):
        tenon.step(model, state)


def test_targets_are_checked():
    model = arm_scene().compile()
    state = model.state()
    state.actuator("elbow-motor").target = 3
    with pytest.raises(tenon.InputError, match="beyond the target limits of 'elbow-motor'") as caught:
        tenon.step(model, state)
    assert caught.value.path == "actuators[1].target"
    state.targets[1] = np.nan
    with pytest.raises(tenon.InputError, match="not finite"):
        tenon.step(model, state)


def test_targets_move_the_arm():
    model = arm_scene(kp=2000, kd=200).compile()
    state = model.state()
    state.gravity = [0, 0, 0]
    state.actuator("elbow-motor").target = 0.4
    tenon.step(model, state, n=400)
    assert state.joint("elbow").position == pytest.approx(0.4, abs=1e-3)
    assert state.sensors["angle"] == pytest.approx(0.4, abs=1e-3)
    assert state.joint_positions[model.joint_coordinates.index("elbow")] == state.joint("elbow").position
    assert state.sensors["tip"].shape == (7,)
    assert model.sensors[:3] == ["tip.x", "tip.y", "tip.z"] and model.sensors[-1] == "angle"


def test_elastic_vertices_are_views_and_checked():
    """A soft cube above a floor, pushed into it by hand."""
    scene = tenon.Scene({"gravity": [0, 0, 0], "method": {"type": "affine", "dt": 0.01}, "bodies": [
        {"name": "floor", "type": "static", "shape": {"type": "box", "size": [2, 1, 2]}, "position": [0, -0.5, 0]}],
        "materials": {"rubber": {"density": 1000, "young": 1e5, "poisson": 0.3}},
        "elastic": [{"name": "cube", "shape": {"type": "box", "size": [0.4, 0.4, 0.4]}, "cell_size": 0.2, "material": "rubber",
                     "position": [0, 0.5, 0]}]})
    model = scene.compile()
    state = model.state()
    cube = state.elastic("cube")
    assert cube.x.shape == cube.v.shape and not cube.x.flags.owndata
    cube.v[:, 0] = 1
    tenon.step(model, state, n=5)
    assert cube.x[:, 0].mean() == pytest.approx(0.05, abs=1e-3)
    cube.x[:, 1] -= 0.4
    with pytest.raises(tenon.InputError, match="floor"):
        tenon.step(model, state)
    cube.x[0, 0] = np.nan
    with pytest.raises(tenon.InputError, match="vertex 0 of 'cube' is not finite"):
        tenon.step(model, state)
