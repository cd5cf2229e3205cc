"""The lines that the documents show run as written."""
import pathlib
import re

import numpy as np
import pytest

import tenon
from common import arm_scene

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_short_way():
    sim = tenon.Simulation("wrecking-ball", method="affine", dt=0.01)
    while sim.time < 0.05:
        sim.step()
    assert sim.positions[:3].shape == (3, 3)
    assert sim.report["min_distance"] > 0
    assert sim.report["steps"] == 5


def test_long_way(tmp_path, monkeypatch):
    (tmp_path / "arm.xml").write_text("""<mujoco><worldbody><body name="upper"><joint name="shoulder" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03"/>
      <body name="hand" pos="0.4 0 0"><joint name="elbow" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/></body></body></worldbody>
      <actuator><position name="elbow" joint="elbow" kp="50" kv="5"/></actuator></mujoco>""")
    monkeypatch.chdir(tmp_path)
    scene = tenon.Scene.load("arm.xml")
    assert isinstance(scene.losses, list)
    model = scene.compile(method="articulated")
    state = model.state()
    state.actuator("elbow").target = 0.4
    tenon.step(model, state, n=10)
    assert np.isfinite(state.body("hand").position).all()
    assert state.joint("elbow").torque.shape == (3,)
    pool = tenon.Pool(model, 256, threads=2)
    pool.step()
    assert len(pool) == 256


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_documented_lines_run(page, tmp_path, monkeypatch):
    """Every Python block of a page, in order, in one namespace."""
    file = ROOT / page
    if not file.exists():
        pytest.skip("the documents are not beside the tests")
    blocks = re.findall(r"^```python\n(.*?)^```", file.read_text(), re.S | re.M)
    assert blocks
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.json").write_text(arm_scene().to_json())
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
