"""The examples in docstrings do what they say."""

import doctest
import importlib
import pkgutil

import pytest

import cuprum
import cuprum._core

NOT_TO_BE_IMPORTED = {"__main__", "as_cuda_core"}  # which do what they do when they are


def documented():
    """Name -> docstring and module of all that has an example, which may use the names of its module."""
    modules = [cuprum]
    for found in pkgutil.iter_modules(cuprum.__path__):
        if found.name not in NOT_TO_BE_IMPORTED:
            modules.append(importlib.import_module(f"cuprum.{found.name}"))
    docstrings = {}
    for module in modules:
        members = {module.__name__: module}
        for name, member in list(vars(module).items()):
            if callable(member) and str(getattr(member, "__module__", "")).startswith("cuprum"):
                members[f"{module.__name__}.{name}"] = member
        for name, member in list(members.items()):
            if isinstance(member, type):
                members.update({f"{name}.{inner}": getattr(member, inner, None) for inner in list(vars(member))})
        for name, member in members.items():
            text = getattr(member, "__doc__", None)
            if isinstance(text, str) and ">>>" in text and text not in {known for known, _ in docstrings.values()}:
                docstrings[name] = text, module
    return docstrings


EXAMPLES = documented()


def test_there_are_examples():
    assert len(EXAMPLES) > 20


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, device):
    text, module = EXAMPLES[name]
    if "numpy" in text:
        pytest.importorskip("numpy", reason="NumPy is not installed")
    test = doctest.DocTestParser().get_doctest(text, {**vars(cuprum), **vars(module)}, name, None, 0)
    said = []
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL | doctest.NORMALIZE_WHITESPACE
    doctest.DocTestRunner(optionflags=flags, verbose=False).run(test, out=said.append)
    assert not said, "".join(said)
