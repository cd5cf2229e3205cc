"""A two-link arm moves its hand along a joint trajectory to a point found by inverse kinematics.

    python3 arm.py
"""
import numpy as np

import tenon

scene = tenon.Scene({
    "name": "arm", "gravity": [0, -9.81, 0], "method": {"type": "articulated", "dt": 0.002},
    "bodies": [
        {"name": "upper", "shape": {"type": "box", "size": [0.5, 0.06, 0.06]}, "mass": 1.5, "position": [0.25, 0, 0]},
        {"name": "lower", "shape": {"type": "box", "size": [0.4, 0.05, 0.05]}, "mass": 1.0, "position": [0.7, 0, 0]}],
    "joints": [
        {"name": "shoulder", "type": "hinge", "bodies": ["world", "upper"], "point": [0, 0, 0], "axis": [0, 0, 1]},
        {"name": "elbow", "type": "hinge", "bodies": ["upper", "lower"], "point": [0.5, 0, 0], "axis": [0, 0, 1]}],
    "actuators": [
        {"name": "shoulder", "type": "torque", "joint": "shoulder"},
        {"name": "elbow", "type": "torque", "joint": "elbow"}]})
model = scene.compile()
state = model.state()
kin = tenon.Kinematics(model)
hand = [0.2, 0, 0]  # in the frame of the lower link

goal = np.array([0.3, 0.5, 0])
found = kin.inverse_kinematics([0.5, 0.5], "lower", goal, point=hand)
path = kin.joint_trajectory([0, 0], found["q"], max_speed=[2, 2], max_acceleration=[8, 8], dt=model.dt)
acceleration = np.gradient(path["v"], model.dt, axis=0)

for q, v, a in zip(path["q"], path["v"], acceleration):  # computed torques, with a little feedback
    wanted = a + 400 * (q - kin.q(state)) + 40 * (v - kin.v(state))
    state.targets = kin.inverse_dynamics(kin.q(state), kin.v(state), wanted)
    tenon.step(model, state)

reached = kin.point(kin.q(state), "lower", hand)
print(f"after {state.time:.2f} s the hand is at {reached.round(4)}, {1000 * np.linalg.norm(reached - goal):.2f} mm from the goal")
