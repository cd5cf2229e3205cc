"""Scenes: loading, editing, importing."""
import copy
import json
import pathlib
import pickle

import numpy as np
import pytest

import tenon
from common import BALL, arm_scene

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / ".." / "shared" / "fixtures"


def test_sources(tmp_path):
    file = tmp_path / "scene.json"
    file.write_text(json.dumps({"bodies": [BALL]}))
    for source in (str(file), file, {"bodies": [BALL]}, tenon.Scene({"bodies": [BALL]})):
        assert tenon.Scene.load(source).bodies == ["ball"]
    assert "wrecking-ball" in tenon.scenes()
    assert set(tenon.methods()) >= {"affine", "articulated", "impulse", "volume", "adaptive"}
    assert tenon.Scene().bodies == []


def test_settings_of_a_builtin():
    assert tenon.Scene.load("wrecking-ball", seconds=2).seconds == 2
    with pytest.raises(tenon.InputError, match="sekonds"):
        tenon.Scene.load("wrecking-ball", sekonds=2)
    with pytest.raises(tenon.InputError, match="did you mean|known"):
        tenon.Scene.load("wreking-ball")


def test_relative_meshes_of_a_file(tmp_path, monkeypatch):
    (tmp_path / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (tmp_path / "scene.json").write_text(json.dumps({"bodies": [{"name": "part", "mesh": "part.obj"}]}))
    scene = tenon.Scene.load(tmp_path / "scene.json")
    scene.add_body(BALL)
    scene.add_joint({"name": "j", "type": "ball", "bodies": ["world", "part"], "point": [0, 0, 0]})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for one in (scene, copy.deepcopy(scene), pickle.loads(pickle.dumps(scene))):
        model = one.compile("articulated")
        assert model.body("part").volume == pytest.approx(1 / 6)


def test_building_in_code():
    scene = tenon.Scene()
    scene.name = "built"
    scene.gravity = [0, 0, -9.81]
    scene.add_material({"name": "steel", "density": 7850, "friction": 0.2})
    scene.add_body({"name": "arm", "shape": {"type": "box", "size": [1, 0.1, 0.1]}, "material": "steel", "position": [0.5, 0, 0]})
    scene.add_body({"name": "extra", "shape": {"type": "sphere", "radius": 0.1}, "position": [0, 0, 5]})
    scene.add_joint({"name": "hinge", "type": "hinge", "bodies": ["world", "arm"], "point": [0, 0, 0], "axis": [0, 1, 0]})
    scene.add_actuator({"name": "motor", "type": "torque", "joint": "hinge", "target": 1})
    scene.add_sensor({"name": "angle", "type": "joint_position", "joint": "hinge"})
    scene.add_force({"body": "extra", "force": [0, 0, 1]})
    scene.method = {"type": "articulated", "dt": 0.004}
    assert scene.dt == 0.004 and scene.joints == ["hinge"]
    model = scene.compile()
    assert model.actuators == ["motor"] and model.sensors == ["angle"]
    assert model.body("arm").mass == pytest.approx(78.5)
    scene.remove_body("extra")
    with pytest.raises(tenon.InputError, match="hinge"):
        scene.remove_joint("hinge")  # the actuator still drives it
    assert scene.joints == ["hinge"]
    scene.remove_sensor("angle")
    scene.remove_actuator("motor")
    scene.remove_joint("hinge")
    assert scene.compile().joints == []
    with pytest.raises(tenon.InputError, match="nothing named 'hinge'"):
        scene.remove_joint("hinge")
    scene.set("bodies[0].material", "default")
    scene.remove_material("steel")
    assert "steel" not in scene.to_json()


def test_a_thousand_bodies_are_added_quickly():
    scene = tenon.Scene()
    for i in range(1000):
        scene.add_body({"name": f"ball-{i}", "shape": {"type": "sphere", "radius": 0.1}, "position": [i, 0, 0]})
    assert len(scene.bodies) == 1000


def test_bad_edits_leave_the_scene_as_it_was():
    scene = arm_scene()
    before = scene.to_json()
    for edit in (lambda: scene.add_body({"name": "upper", "shape": {"type": "sphere"}}),
                 lambda: scene.add_body({"name": "x", "shape": {"type": "sphere", "radius": -1}}),
                 lambda: scene.add_joint({"name": "j", "type": "hinge", "bodies": ["upper", "nobody"]}),
                 lambda: scene.set("bodies[0].mass", -1), lambda: scene.set("bodies[0].mas", 1),
                 lambda: scene.remove_body("nobody"), lambda: scene.add_actuator({"name": "a", "type": "warp", "joint": "elbow"})):
        with pytest.raises(tenon.InputError):
            edit()
    assert scene.to_json() == before


def test_text_and_back():
    scene = arm_scene()
    again = tenon.Scene.from_json(scene.to_json())
    assert again.to_dict() == scene.to_dict()
    assert pickle.loads(pickle.dumps(scene)).to_dict() == scene.to_dict()
    assert scene.compile().scene().to_dict() == scene.to_dict()


def test_numpy_values_in_dicts():
    scene = tenon.Scene({"bodies": [{"name": "ball", "shape": {"type": "sphere", "radius": np.float64(0.1)},
                                     "position": np.array([1.0, 2.0, 3.0])}]})
    np.testing.assert_allclose(scene.compile().state().positions[0], [1, 2, 3])


URDF = """<robot name="arm"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="swing" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="5" velocity="2"/></joint></robot>"""


def test_urdf_with_losses(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(URDF)
    for scene in (tenon.Scene.from_urdf(file), tenon.Scene.load(file)):
        assert scene.compile().joint("swing").limits == (-1, 1)
        assert all(set(loss) == {"file", "line", "element", "kind", "what", "why"} for loss in scene.losses)
        assert any("effort" in loss["what"] or "velocity" in loss["what"] for loss in scene.losses)
    with pytest.raises(tenon.InputError, match="bad.urdf"):
        (tmp_path / "bad.urdf").write_text("<robot><link/></robot>")
        tenon.Scene.from_urdf(tmp_path / "bad.urdf")
    with pytest.raises(tenon.InputError):
        tenon.Scene.from_mjcf(tmp_path / "none.xml")


def test_panda_of_the_fixtures():
    file = FIXTURES / "mjcf" / "franka_emika_panda" / "panda.xml"
    if not file.exists():
        pytest.skip("the fixture is not here")
    scene = tenon.Scene.from_mjcf(file)
    model = scene.compile()
    state = model.state()
    tenon.step(model, state, n=2)
    assert len(model.actuators) == 8


def test_rigid_ipc_of_the_fixtures():
    files = sorted((FIXTURES / "rigid-ipc" / "3D").rglob("*.json")) if FIXTURES.exists() else []
    if not files:
        pytest.skip("the fixtures are not here")
    scene = tenon.Scene.from_rigid_ipc(files[0])
    assert scene.bodies and isinstance(scene.losses, list)
    assert tenon.Scene.load(files[0]).bodies == scene.bodies
