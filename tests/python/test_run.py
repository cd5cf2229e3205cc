"""Run files as arrays and pictures."""
import sqlite3
import struct

import numpy as np
import pytest

import tenon
from common import arm_scene


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return tenon.run(arm_scene(), tmp_path_factory.mktemp("run") / "arm.tenon", seconds=0.2, record_every=4)


def test_arrays_equal_the_simulation(run):
    sim = tenon.Simulation(arm_scene())
    for frame in range(1, len(run)):
        sim.step(4)
        assert (run.q[frame] == sim.q).all()
        assert run.times[frame] == pytest.approx(sim.time)
    assert run.q.shape == (11, 2, 3, 4)
    assert (run.positions == run.q[..., 3]).all()
    assert (run.frame(-1)["rate"] == sim.rate).all()
    np.testing.assert_allclose(run.frame(-1)["joint_force"][1], sim.joint("elbow").force)


def test_arrays_equal_the_file(run):
    """Read with the standard library alone."""
    rows = sqlite3.connect(run.file).execute("SELECT q FROM frames ORDER BY id").fetchall()
    raw = np.array([np.frombuffer(row[0], "<f8").reshape(-1, 4, 3).transpose(0, 2, 1) for row in rows])
    assert (raw == run.q).all()


def test_series_and_report(run):
    steps = run.steps
    assert len(steps["time"]) == len(steps["kinetic"]) and steps["time"][-1] == pytest.approx(0.2)
    assert "sensor.angle" in steps
    assert run.report["steps"] == 40 and run.report["method"] == "articulated"
    assert run.bodies == ["upper", "lower"] and run.joints == ["shoulder", "elbow"]
    assert run.scene.bodies == run.bodies
    np.testing.assert_allclose(run.masses, [1.5, 1.0])


def test_pictures(run):
    png = run.picture(width=160, height=90)
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", png[16:24]) == (160, 90)
    assert run.sheet(columns=2, rows=1)[:4] == b"\x89PNG"
    with pytest.raises(ValueError, match="pixels"):
        run.picture(width=1)


def test_shows_itself(run, monkeypatch):
    html = run._repr_html_()
    assert "arm.tenon" in html and ("<img" in html or "<iframe" in html)
    monkeypatch.setattr("tenon._notebook.program", lambda: None)
    assert "data:image/png;base64," in run._repr_html_()


def test_faults(tmp_path, run):
    with pytest.raises(tenon.InputError):
        tenon.Run(tmp_path / "none.tenon")
    (tmp_path / "text.tenon").write_text("this is no run")
    with pytest.raises(tenon.InputError):
        tenon.Run(tmp_path / "text.tenon")
    with pytest.raises(IndexError, match="no frame 11 of 11"):
        run.frame(11)
    with pytest.raises(tenon.InputError):
        tenon.run(arm_scene(), "/proc/no/such/folder.tenon")
    assert repr(run).endswith("11 frames, 2 bodies>")
