"""Tenon from Python: stiff, jointed, touching bodies.

>>> import tenon
>>> sim = tenon.Simulation("wrecking-ball", method="affine", dt=0.01)
>>> sim.step()
>>> sim.time
0.01
"""
from . import _notebook
from ._tenon import (
    InputError,
    Kinematics,
    Model,
    Pool,
    Run,
    Scene,
    Simulation,
    State,
    StepFailure,
    __version__,
    methods,
    run,
    scenes,
    set_threads,
    step,
    threads,
)

Run._repr_html_ = _notebook.run_html  # what a notebook shows

__all__ = ["InputError", "Kinematics", "Model", "Pool", "Run", "Scene", "Simulation", "State", "StepFailure", "__version__",
           "methods", "run", "scenes", "set_threads", "step", "threads"]
