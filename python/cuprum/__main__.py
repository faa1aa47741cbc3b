"""``python -m cuprum``: runs a program with cuda.core served by cuprum.

.. code-block:: console

    $ python -m cuprum script.py arguments...    # or a folder or zip file with a __main__.py, or - for the standard input
    $ python -m cuprum -m module arguments...
    $ python -m cuprum -c 'from cuda.core import Device; print(Device().name)'
    $ python -m cuprum --softgpu script.py    # without a GPU, whether there is one or not

Everything that the program sees (``sys.argv``, ``__main__``, ``sys.path``) is as without cuprum.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import SourcelessFileLoader
from types import ModuleType, TracebackType
from typing import Any
from zipimport import ZipImportError, zipimporter

USAGE = """\
usage: python -m cuprum [--softgpu | --nvidia] [--devices N] (SCRIPT | FOLDER | ZIP | - | -m MODULE | -c CODE) [arguments...]

Runs a program with cuda.core served by cuprum.

  --softgpu     run on softgpu, also when there is a GPU (as CUPRUM_DRIVER=softgpu)
  --nvidia      run on a GPU, or fail (as CUPRUM_DRIVER=nvidia)
  --devices N   with softgpu: how many devices there are (as SOFTGPU_DEVICES=N)
  --version     print the version of cuprum
"""


def main(arguments: list[str]) -> None:
    """Run what `arguments`, those behind ``python -m cuprum``, say."""
    rest = list(arguments)
    while rest and rest[0].startswith("-") and rest[0] not in ("-", "-m", "-c"):
        take_option(rest)
    if not rest or (rest[0] in ("-m", "-c") and len(rest) < 2):
        stop("nothing to run")
    import cuprum.as_cuda_core  # noqa: F401

    if rest[0] == "-m":
        run_module(rest[1], rest[2:])
    elif rest[0] == "-c":
        run_code(rest[1], rest[2:])
    elif rest[0] == "-":
        run_input(rest[1:])
    elif os.path.isdir(rest[0]):
        run_folder(rest[0], rest[1:])
    elif (file := zip_file(rest[0])) is not None:
        run_zip_file(file, rest[0], rest[1:])
    else:
        run_script(rest[0], rest[1:])


def take_option(rest: list[str]) -> None:
    """Take the option at the head of `rest` off it, and do what it says."""
    option = rest.pop(0)
    name, equals, value = option.partition("=")
    if option in ("-h", "--help"):
        print(USAGE, end="")
        raise SystemExit(0)
    if option in ("-V", "--version"):
        import cuprum

        print(f"cuprum {cuprum.__version__}")
        raise SystemExit(0)
    if option in ("--softgpu", "--nvidia"):
        os.environ["CUPRUM_DRIVER"] = option[2:]
    elif name == "--devices":
        if not equals:
            value = rest.pop(0) if rest else ""
        if not value.isdigit() or int(value) < 1:
            stop(f"--devices takes a number from 1 on, not {value!r}")
        os.environ["SOFTGPU_DEVICES"] = value
    else:
        stop(f"unknown option {option!r}")


def stop(reason: str) -> None:
    """End with the usage and `reason`."""
    sys.stderr.write(f"{USAGE}\npython -m cuprum: {reason}\n")
    raise SystemExit(2)


def run_script(path: str, arguments: list[str], name: str | None = None) -> None:
    """Run the file `path` as Python would; `name` is what it is called by, if not that."""
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        stop(f"can't open {path!r}: {error.strerror}")
    whole = os.path.join(os.getcwd(), path)  # the script finds itself by this, wherever it goes
    sys.argv[:] = [name or path, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    if path.endswith(".pyc"):
        execute(SourcelessFileLoader("__main__", path).get_code("__main__"), whole)
    else:
        execute(compiled(source, whole), whole)


def run_input(arguments: list[str]) -> None:
    """Run what is on the standard input, as ``python -`` would."""
    sys.argv[:] = ["-", *arguments]
    sys.path[0] = ""
    execute(compiled(sys.stdin.buffer.read(), "<stdin>"), None)


def run_folder(path: str, arguments: list[str]) -> None:
    """Run the ``__main__.py`` in a folder as Python would: what is beside it can be imported."""
    program = os.path.join(path, "__main__.py")
    if not os.path.isfile(program):
        stop(f"can't find '__main__.py' in the folder {path!r}")
    run_script(program, arguments, name=path)


def zip_file(path: str) -> zipimporter | None:
    """What imports from the zip file `path`, such as one that ``zipapp`` makes; None if it is none."""
    try:
        return zipimporter(path)
    except ZipImportError:
        return None


def run_zip_file(file: zipimporter, path: str, arguments: list[str]) -> None:
    """Run the ``__main__.py`` in a zip file as Python would: what is beside it can be imported."""
    if file.find_spec("__main__") is None:
        stop(f"can't find '__main__.py' in the zip file {path!r}")
    whole = os.path.join(os.getcwd(), path)
    sys.argv[:] = [path, *arguments]
    sys.path[0] = whole
    execute(file.get_code("__main__"), os.path.join(whole, "__main__.py"))


def run_code(source: str, arguments: list[str]) -> None:
    """Run `source` as ``python -c`` would."""
    sys.argv[:] = ["-c", *arguments]
    sys.path[0] = ""
    execute(compiled(source, "<string>"), None)


def run_module(name: str, arguments: list[str]) -> None:
    """Run the module `name` as ``python -m`` would."""
    import runpy

    sys.argv[:] = [name, *arguments]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def compiled(source: bytes | str, name: str) -> Any:
    """The code of a program. Ends as Python does if it is none: with what is wrong in it, and where."""
    try:
        return compile(source, name, "exec")
    except SyntaxError as error:
        sys.excepthook(type(error), error.with_traceback(None), None)
        raise SystemExit(1) from None


def execute(code: Any, path: str | None) -> None:
    """Run `code` in a new ``__main__``, with tracebacks that begin in it."""
    program = ModuleType("__main__")
    program.__dict__.update(__builtins__=__builtins__, __spec__=None)
    if path is not None:
        program.__file__ = path
    sys.modules["__main__"] = program
    show = sys.excepthook

    def show_from_program(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        first = trace
        while first is not None and first.tb_frame.f_code is not code:
            first = first.tb_next
        if first is not None:
            error = error.with_traceback(first)
        show(kind, error, error.__traceback__)

    sys.excepthook = show_from_program
    exec(code, program.__dict__)


if __name__ == "__main__":
    main(sys.argv[1:])
