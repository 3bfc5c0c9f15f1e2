"""The compiled module is what its type stub says."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import rexmit
from rexmit import _core

STUB = Path(rexmit.__file__).with_name("_core.pyi")


def _public(names: list[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def _parameters(of: ast.arguments) -> list[str]:
    others = [of.kwarg] if of.kwarg else []
    return [argument.arg for argument in (*of.args, *of.kwonlyargs, *others)]


def test_stub_and_module_have_the_same_names() -> None:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    described = [
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    assert _public(described) == _public(dir(_core))


def test_functions_take_the_parameters_of_the_stub() -> None:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert functions
    for node in functions:
        described = _parameters(node.args)
        assert list(inspect.signature(getattr(_core, node.name)).parameters) == described, node.name


def test_classes_have_the_properties_of_the_stub() -> None:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    assert classes
    for node in classes:
        if node.name.startswith("_"):
            # A protocol, of the stub alone.
            continue
        described = [item.name for item in node.body if isinstance(item, ast.FunctionDef)]
        assert _public(dir(getattr(_core, node.name))) == _public(described), node.name


def test_constructors_take_the_parameters_of_the_stub() -> None:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    constructors = [
        (node.name, item.args)
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for item in node.body
        if isinstance(item, ast.FunctionDef) and item.name == "__init__"
    ]
    assert constructors
    for name, arguments in constructors:
        described = _parameters(arguments)[1:]
        assert list(inspect.signature(getattr(_core, name)).parameters) == described, name


def test_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert _core.version() == version("rexmit") == rexmit.__version__
