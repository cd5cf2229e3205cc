"""Small scenes that the tests share."""
import tenon

BALL = {"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "position": [0, 1, 0]}


def falling_ball(method="impulse", dt=0.01):
    return tenon.Scene({"name": "falling-ball", "bodies": [BALL]}).compile(method, dt=dt)


def pendulum_scene():
    """A uniform rod of 1 m on a hinge, level at the start."""
    return tenon.Scene({
        "name": "rod", "gravity": [0, -9.81, 0], "method": {"type": "articulated", "dt": 0.002},
        "bodies": [{"name": "rod", "shape": {"type": "box", "size": [1, 0.05, 0.05]}, "mass": 2, "position": [0.5, 0, 0]}],
        "joints": [{"name": "hinge", "type": "hinge", "bodies": ["world", "rod"], "point": [0, 0, 0], "axis": [0, 0, 1]}]})


def arm_scene(kp=200, kd=20):
    """Two links in a vertical plane, each with a position actuator, sensors at the tip."""
    return tenon.Scene({
        "name": "arm", "gravity": [0, -9.81, 0], "method": {"type": "articulated", "dt": 0.005},
        "bodies": [
            {"name": "upper", "shape": {"type": "box", "size": [0.5, 0.06, 0.06]}, "mass": 1.5, "position": [0.25, 0, 0]},
            {"name": "lower", "shape": {"type": "box", "size": [0.4, 0.05, 0.05]}, "mass": 1.0, "position": [0.7, 0, 0]}],
        "joints": [
            {"name": "shoulder", "type": "hinge", "bodies": ["world", "upper"], "point": [0, 0, 0], "axis": [0, 0, 1]},
            {"name": "elbow", "type": "hinge", "bodies": ["upper", "lower"], "point": [0.5, 0, 0], "axis": [0, 0, 1],
             "limits": [-2, 2.5]}],
        "actuators": [
            {"name": "shoulder-motor", "type": "position", "joint": "shoulder", "kp": kp, "kd": kd},
            {"name": "elbow-motor", "type": "position", "joint": "elbow", "kp": kp, "kd": kd, "target_limits": [-2, 2]}],
        "sensors": [
            {"name": "tip", "type": "pose", "body": "lower", "position": [0.2, 0, 0]},
            {"name": "angle", "type": "joint_position", "joint": "elbow"}]})


def boxes_scene():
    """Two boxes with a gap of 0.1 m, for barrier contact."""
    box = {"type": "box", "size": [1, 1, 1]}
    return tenon.Scene({
        "name": "boxes", "gravity": [0, 0, 0], "method": {"type": "affine", "dt": 0.01},
        "bodies": [{"name": "a", "shape": box}, {"name": "b", "shape": box, "position": [1.1, 0, 0]}]})
