"""Tenon from Python: stiff, jointed, touching bodies.

>>> import tenon
>>> sim = tenon.Simulation("wrecking-ball", method="affine", dt=0.01)
>>> sim.step()
>>> sim.time
0.01
"""
from ._tenon import (  # noqa: F401
    InputError,
    Model,
    Pool,
    Run,
    Scene,
    Simulation,
    State,
    StepFailure,
    __version__,
    methods,
    scenes,
    set_threads,
    step,
    threads,
)

__all__ = ["InputError", "Model", "Pool", "Run", "Scene", "Simulation", "State", "StepFailure", "methods", "scenes",
           "set_threads", "step", "threads"]
