"""pip install . --no-build-isolation: CMake builds the module, setuptools packs it.

The build tree is TENON_BUILD_DIR, default build/ (that of `make build`, which is then only brought up to date). What CMake
needs (a C++20 compiler, Eigen and the other libraries, pybind11) comes from the system: scripts/setup core."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent


class CMakeBuild(build_ext):
    """Builds the target tenon_python and copies what it made."""

    def build_extension(self, extension):
        tree = pathlib.Path(os.environ.get("TENON_BUILD_DIR", ROOT / "build"))
        if not (tree / "CMakeCache.txt").exists():
            generator = ["-G", "Ninja"] if shutil.which("ninja") else []
            subprocess.run(["cmake", "-S", str(ROOT), "-B", str(tree), *generator, "-DCMAKE_BUILD_TYPE=Release", "-DTENON_TESTS=OFF",
                            f"-DTENON_PYTHON={sys.executable}"], check=True)
        subprocess.run(["cmake", "--build", str(tree), "--target", "tenon_python", "--parallel", os.environ.get("TENON_JOBS", str(os.cpu_count()))],
                       check=True)
        made = sorted((tree / "python" / "tenon").glob("_tenon*.so"))
        if not made:
            raise SystemExit("CMake made no module: pybind11-dev and python3-dev are needed (scripts/setup core)")
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(made[0], target)


version = re.search(r"project\(Tenon VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
(ROOT / "build" / "wheel").mkdir(parents=True, exist_ok=True)  # setuptools' own files, out of the sources
setup(version=version, ext_modules=[Extension("tenon._tenon", [])], cmdclass={"build_ext": CMakeBuild},
      options={"build": {"build_base": "build/wheel"}, "egg_info": {"egg_base": "build/wheel"}})
