"""Measures the parts of a first call on a GPU: process start, compilation and loading of GPU modules.

    python -m scripts.bench.start --json start.jsonl       # about 100 s on a host of 16 cores and one GPU

Each figure of a process is its wall time from start to end, the median of `--repeats` runs in turn:

    bare          a process that creates a context through PyCUDA
    bare numpy    the same, after `import numpy`
    imports       `import numpy` and the imports of `dmr refine`, without a device
    empty cache   `dmr refine meshes/sample.ele --device cuda` with an empty cache folder: compiles all of its modules
    cached        the same again
    built ahead   the same with an empty cache folder and modules that were compiled with the package
    compile all   time that compiling all modules adds to the build of the package; not a process

Then, for each GPU module: `compile`, wall and CPU seconds of nvcc running alone, and `load`, milliseconds to load the
module and look up its kernels in a process that has a context. "over bare" is the time beyond "bare". The targets are
10 s with an empty cache, 0.5 s cached and 1 s built ahead. Modules are built ahead in a copy of the working tree.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dmr.memory.cuda.ahead import VARIABLE, build_ahead, visible_architectures
from dmr.memory.cuda.nvcc import Module, compile_modules
from dmr.memory.declarations import source_folder
from dmr.memory.signatures import signatures
from scripts.lib.measuring import append_record, circumstances, positive

ROOT = Path(__file__).resolve().parents[2]
CONTEXT = "import pycuda.driver as d; d.init(); c = d.Device(0).make_context(); c.pop(); c.detach()"
TARGETS = {"empty cache": 10.0, "cached": 0.5, "built ahead": 1.0}  # seconds beyond "bare"
LEFT_OUT = (".git", ".venv", "build", "dist", "tests", "docs", "prebuilt", "study")

# Loads the given files and looks up the given kernels, in turn in one process; prints the seconds per file as JSON.
LOAD = """
import json, sys, time
import pycuda.driver as driver
driver.init()
context = driver.Device(0).make_context()
seconds = {}
for path, kernels in json.load(sys.stdin).items():
    begun = time.perf_counter()
    module = driver.module_from_file(path)
    functions = [module.get_function(kernel) for kernel in kernels]
    seconds[path] = time.perf_counter() - begun
context.pop()
print(json.dumps(seconds))
"""


def run_process(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> float:
    """Runs a process and returns its wall time in seconds; ends the benchmark if it fails."""
    begun = time.perf_counter()
    done = subprocess.run(command, env=dict(environment), cwd=folder, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begun
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed with exit code {done.returncode}:\n{done.stderr[-4000:]}")
    return seconds


def processes(work: Path, architecture: str, repeats: int) -> dict[str, list[float]]:
    """Seconds of each kind of process, a list entry per run."""
    plain, ahead = work / "plain", work / "ahead"
    for copy in (plain, ahead):
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
    os.environ[VARIABLE] = architecture
    begun = time.perf_counter()
    build_ahead(ahead / "cuda_src", ahead / "dmr" / "memory" / "cuda" / "prebuilt")
    found = {"compile all": [time.perf_counter() - begun]}

    def environment(copy: Path, cache: str) -> dict[str, str]:
        paths = [str(copy), *filter(None, [os.environ.get("PYTHONPATH")])]  # the existing path may hold PyCUDA
        return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "XDG_CACHE_HOME": str(work / cache)}

    python, sample = sys.executable, str(ROOT / "meshes" / "sample.ele")
    refine = [python, "-m", "dmr", "refine", sample, "--device", "cuda", "-f", "-o", str(work / "fine.ele")]
    imports = "import numpy, dmr.cli, dmr.refinement, dmr.io"
    for turn in range(repeats):
        cache = f"cache-{turn}"
        for name, command, where in (
            ("bare", [python, "-c", CONTEXT], environment(plain, "none")),
            ("bare numpy", [python, "-c", f"import numpy; {CONTEXT}"], environment(plain, "none")),
            ("imports", [python, "-c", imports], environment(plain, "none")),
            ("empty cache", refine, environment(plain, cache)),
            ("cached", refine, environment(plain, cache)),
            ("built ahead", refine, environment(ahead, f"unused-{turn}")),
        ):
            found.setdefault(name, []).append(run_process(command, where, work))
    return found


def modules(work: Path, architecture: str) -> dict[str, dict[str, float]]:
    """Seconds to compile each module alone and to load it."""
    folder = work / "modules"
    found: dict[str, dict[str, float]] = {}
    files: dict[str, Path] = {}
    folder.mkdir()
    for source in sorted(source_folder().rglob("*.cu")):
        name = source.relative_to(source_folder()).with_suffix("").as_posix()
        files[name] = folder / (name.replace("/", "-") + ".cubin")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        compile_modules([Module(source, files[name])], source_folder(), architecture, 1)
        wall = time.perf_counter() - begun
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found[name] = {"compile_wall": wall, "compile_cpu": cpu, "bytes": float(files[name].stat().st_size)}
    kernels: dict[str, list[str]] = {str(file): [] for file in files.values()}
    for signature in signatures().values():
        name = signature.source.relative_to(source_folder()).with_suffix("").as_posix()
        kernels[str(files[name])].append(signature.name)
    listed = json.dumps(kernels)
    done = subprocess.run([sys.executable, "-c", LOAD], input=listed, capture_output=True, text=True, check=True)
    for name, file in files.items():
        found[name]["load"] = json.loads(done.stdout)[str(file)]
    return found


def print_results(seconds: Mapping[str, Sequence[float]], compiled: Mapping[str, Mapping[str, float]]) -> None:
    """Prints two tables: processes and modules."""
    bare = statistics.median(seconds["bare"])
    print(f"{'process':<14}{'median s':>10}{'over bare':>11}{'target':>8}")
    for name, runs in seconds.items():
        median = statistics.median(runs)
        target = f"{TARGETS[name]:g}" if name in TARGETS else ""
        over = "" if name == "compile all" else f"{median - bare:.3f}"
        print(f"{name:<14}{median:>10.3f}{over:>11}{target:>8}")
    print(f"\n{'module':<28}{'compile s':>10}{'CPU s':>8}{'load ms':>9}{'KiB':>7}")
    for name, row in sorted(compiled.items(), key=lambda item: -item[1]["compile_wall"]):
        figures = f"{row['compile_wall']:>10.2f}{row['compile_cpu']:>8.2f}{1000 * row['load']:>9.2f}"
        print(f"{name:<28}{figures}{row['bytes'] / 1024:>7.0f}")
    totals = {kind: sum(row[kind] for row in compiled.values()) for kind in ("compile_wall", "compile_cpu", "load")}
    print(f"{'all':<28}{totals['compile_wall']:>10.2f}{totals['compile_cpu']:>8.2f}{1000 * totals['load']:>9.2f}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, prints and appends a record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=positive, default=3, help="runs of each process (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="append a record to FILE, one JSON object per line")
    parser.add_argument("--no-modules", action="store_true", help="measure processes only, not single modules")
    options = parser.parse_args(arguments)
    architectures = visible_architectures()
    if not architectures:
        sys.exit("bench_start: the driver shows no GPU that dmr can use")
    with tempfile.TemporaryDirectory() as scratch:
        seconds = processes(Path(scratch), architectures[0], options.repeats)
        compiled: dict[str, Any] = {} if options.no_modules else modules(Path(scratch), architectures[0])
    print_results(seconds, compiled)
    if options.json is not None:
        record = {**circumstances(on_gpu=True), "architecture": architectures[0], "seconds": seconds}
        append_record(options.json, {**record, "modules": compiled})


if __name__ == "__main__":
    main()
