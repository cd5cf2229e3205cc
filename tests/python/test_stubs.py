"""The stubs say what the module has, no more and no less; docstrings' examples run."""
import ast
import doctest
import importlib
import inspect
import pathlib
import re

import pytest

import tenon
from tenon import _tenon

STUB = ast.parse((pathlib.Path(tenon.__file__).parent / "_tenon.pyi").read_text())
STUBBED = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
CLASSES = {name: node for name, node in STUBBED.items() if not name.startswith("_")}  # the others are what several have alike
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
UNSAID = {"__init__", "__repr__", "__reduce_ex__", "__getstate__", "__setstate__", "__doc__", "__module__", "__new__", "__weakref__",
          "__dict__"}


def arguments(node):
    names = [one.arg for one in node.args.args]
    return [name for name in names if name != "self"], node.args.kwarg is not None


def documented(function):
    """Names of the parameters in the signature that pybind11 writes first into a docstring."""
    line = function.__doc__.splitlines()[0]
    inside = line[line.index("(") + 1:line.rindex(") ->")]
    names = re.findall(r"(?:^|, )(\*{0,2}\w+)(?::|$|,| =)", re.sub(r"[\[(][^\])]*[\])]", "", inside))
    return [name for name in names if name != "self" and not name.startswith("*")], "**" in inside


def body(node):
    """What a class and those it builds on say."""
    return [*node.body, *(one for base in node.bases if base.id in STUBBED for one in body(STUBBED[base.id]))]


def members(node):
    found = {}
    for one in body(node):
        if isinstance(one, ast.FunctionDef):
            found.setdefault(one.name, one)
        elif isinstance(one, ast.AnnAssign):
            found[one.target.id] = one
    return found


def public_classes():
    return [name for name, value in vars(_tenon).items() if inspect.isclass(value)]


def test_every_class_and_function_has_a_stub():
    assert set(public_classes()) == set(CLASSES)
    functions = {name for name, value in vars(_tenon).items() if callable(value) and not inspect.isclass(value) and not name.startswith("_")}
    assert functions == set(FUNCTIONS)
    assert set(tenon.__all__) <= set(dir(tenon))
    assert set(tenon.__all__) == {name for name in vars(_tenon) if name in tenon.__all__}


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in ("InputError", "StepFailure")])
def test_members_agree(name):
    real = {key: value for key, value in vars(getattr(_tenon, name)).items() if key not in UNSAID}
    said = members(CLASSES[name])
    assert set(real) == set(said) - {"__init__"}
    for key, node in said.items():
        if key == "_repr_html_":
            continue
        if isinstance(node, ast.AnnAssign):
            assert real[key].fset is not None or name == "Simulation", key
            continue
        decorators = [getattr(one, "id", getattr(one, "attr", "")) for one in node.decorator_list]
        if "property" in decorators:
            assert isinstance(real[key], property), key
            setter = any(isinstance(one, ast.FunctionDef) and one.name == key and one.decorator_list and
                         getattr(one.decorator_list[0], "attr", "") == "setter" for one in body(CLASSES[name]))
            if name != "Simulation":  # forwards to its state, which refuses
                assert (real[key].fset is not None) == setter, key
        elif key == "__init__" or not key.startswith("__"):
            assert documented(getattr(getattr(_tenon, name), key)) == arguments(node), key


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_parameters_of_functions_agree(name):
    assert documented(getattr(_tenon, name)) == arguments(FUNCTIONS[name])


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in ("InputError", "StepFailure")])
def test_everything_public_is_described(name):
    one = getattr(_tenon, name)
    assert one.__doc__
    self_evident = {"name", "index", "file", "model", "state", "method", "friction", "restitution", "threads"}
    for key, value in vars(one).items():
        if not key.startswith("_") and key not in self_evident:
            words = value.__doc__ or ""
            assert len(words.strip().splitlines()[-1]) > 1, key


def test_examples_run():
    failed = attempted = 0
    finder, runner = doctest.DocTestFinder(exclude_empty=True), doctest.DocTestRunner()
    for name in public_classes() + ["__init__"]:
        text = tenon.__doc__ if name == "__init__" else getattr(_tenon, name).__doc__
        test = doctest.DocTestParser().get_doctest(text or "", {}, name, None, 0)
        result = runner.run(test)
        failed += result.failed
        attempted += result.attempted
    assert failed == 0 and attempted > 20


def test_typed():
    assert (pathlib.Path(tenon.__file__).parent / "py.typed").exists()
    for name in ("tenon.gym", "tenon.__main__"):
        assert importlib.import_module(name)
