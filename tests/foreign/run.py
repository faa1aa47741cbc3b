"""usage: run.py PROGRAM...: runs programs one after the other, in one process: importing cuda.core takes longer than most of them."""

import runpy
import sys
import traceback


def main():
    try:
        import cuda.core, numpy  # noqa: E401, F401
        if any("/nvml/" in program for program in sys.argv[1:]):
            import gpustat, nvitop, pynvml  # noqa: E401, F401
    except ImportError as error:
        print(f"skipped: {error}; ./check installs what is missing")
        return 77
    failed = []
    for program in sys.argv[1:]:
        print(f"---- {program}", flush=True)  # before it runs: it might end the process
        try:
            runpy.run_path(program, run_name="__main__")
        except Exception:
            traceback.print_exc()
            failed.append(program)
    for program in failed:
        print(f"failed: {program}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
