"""python -m tenon doctor: what was found on this machine."""
import os
import platform
import shutil
import sys


def cpu_flags():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("flags"):
                    return line.split(":", 1)[1].split()
    except OSError:
        pass
    return []


def doctor():
    import numpy

    import tenon
    from tenon import _notebook, _tenon

    program = _notebook.program()
    page = None
    if program:
        here = os.path.join(os.path.dirname(os.path.dirname(program)), "share", "tenon", "viewer", "index.html")
        page = here if os.path.exists(here) else None
    sim = tenon.Simulation("physical-pendulum")
    sim.step(10)
    rows = [
        ("tenon", f"{tenon.__version__} ({os.path.dirname(_tenon.__file__)})"),
        ("python", f"{platform.python_version()} ({sys.executable})"),
        ("numpy", numpy.__version__),
        ("cores", f"{os.cpu_count()}, {len(os.sched_getaffinity(0))} of them for this process"),
        ("AVX2", "yes" if "avx2" in cpu_flags() else "no: the portable kernels are used"),
        ("program", program or "not found: set TENON_PROGRAM, or build/bin/tenon on the PATH"),
        ("viewer", page or "not built: runs show themselves as pictures (make view)"),
        ("ffmpeg", shutil.which("ffmpeg") or "not found: no MP4 from tenon render"),
        ("gymnasium", gymnasium_version()),
        ("step", f"physical-pendulum at {sim.time:g} s, converged: {sim.metrics['converged']}"),
    ]
    for name, value in rows:
        print(f"{name:10} {value}")
    return 0


def gymnasium_version():
    try:
        import gymnasium
    except ImportError:
        return "not installed: tenon.gym works without it"
    return gymnasium.__version__


def main(arguments):
    if arguments == ["doctor"]:
        return doctor()
    print("usage: python -m tenon doctor", file=sys.stderr)
    return 0 if arguments in (["--help"], ["-h"]) else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
