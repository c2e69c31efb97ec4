"""Compilation of GPU modules, with a script in place of nvcc: caching, concurrency, errors and prebuilt modules."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dmr.errors import InternalError
from dmr.memory.cuda import ahead, compiler
from dmr.memory.cuda.nvcc import cubin_name
from dmr.memory.declarations import source_folder
from tests.support.paths import ROOT

CAPABILITY = (9, 0)
NAMES = ("primitives/scan", "primitives/sorting", "primitives/device_loop")  # the last one is compiled and linked

# Records each call, and writes its arguments to the file of -o.
NVCC = """#!/bin/sh
if [ "$1" = --version ]; then echo release 0; exit; fi
echo "$@" >> "$LOG"
{body}
while [ "$1" != -o ]; do shift; done
echo "machine code" > "$2"
"""


@pytest.fixture
def nvcc(tmp_path, monkeypatch):
    """Puts a script named nvcc with a given body on the PATH; returns the file that records its calls."""
    log = tmp_path / "calls"

    def install(body=""):
        script = tmp_path / "bin" / "nvcc"
        script.parent.mkdir(exist_ok=True)
        script.write_text(NVCC.format(body=body))
        script.chmod(0o755)
        return log

    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("LOG", str(log))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(compiler, "PREBUILT", tmp_path / "prebuilt")
    compiler._nvcc_version.cache_clear()
    yield install
    compiler._nvcc_version.cache_clear()


def sources(names=NAMES):
    return [compiler.module(name) for name in names]


def left_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and path.suffix != ".cubin")


def test_missing_modules_are_compiled_once_and_announced(nvcc, tmp_path, caplog):
    log = nvcc()
    with caplog.at_level(logging.WARNING):
        found = compiler.cubins(sources(), CAPABILITY)
    assert [path.read_text() for path in found] == ["machine code\n"] * 3
    assert [record.getMessage().partition(",")[0] for record in caplog.records] == ["compiling 3 GPU modules for sm_90"]
    assert len(log.read_text().splitlines()) == 4
    assert compiler.cubins(sources(), CAPABILITY) == found
    assert len(log.read_text().splitlines()) == 4 and len(caplog.records) == 1
    assert left_in(tmp_path / "cache") == []


def test_modules_are_compiled_concurrently(nvcc, monkeypatch, tmp_path):
    # Each waits for the others: sequential calls would never end.
    nvcc(f"touch {tmp_path}/$$.here; while [ $(ls {tmp_path}/*.here | wc -l) -lt 3 ]; do sleep 0.01; done")
    monkeypatch.setattr(compiler, "available_threads", lambda: 3)
    assert (
        len(compiler.cubins(sources(("primitives/scan", "primitives/sorting", "primitives/gathering")), CAPABILITY))
        == 3
    )


def test_concurrent_threads_compile_a_module_once(nvcc, caplog):
    log, found = nvcc("sleep 0.1"), []
    threads = [threading.Thread(target=lambda: found.append(compiler.cubins(sources(), CAPABILITY))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len(set(map(tuple, found))) == 1
    assert len(log.read_text().splitlines()) == 4 and len(caplog.records) == 1


def test_a_compile_error_names_the_source_and_quotes_nvcc(nvcc, tmp_path):
    nvcc("echo 'error: no semicolon' >&2; exit 2")
    with pytest.raises(InternalError, match=r"(?s)nvcc could not compile .*\.cu.*no semicolon"):
        compiler.cubins(sources(), CAPABILITY)
    assert left_in(tmp_path / "cache") == []
    nvcc()
    assert len(compiler.cubins(sources(), CAPABILITY)) == 3


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_ctrl_c_ends_a_compilation_and_leaves_nothing(nvcc, tmp_path):
    nvcc(f"sleep 60 & echo $! $$ >> {tmp_path}/running; touch $TMPDIR/tmpxft; wait")
    program = (
        f"from dmr.memory.cuda import compiler\ncompiler.cubins([compiler.module(name) for name in {NAMES}], (9, 0))\n"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    running = tmp_path / "running"
    while not running.exists() or len(running.read_text().split()) < 4:
        assert started.poll() is None
        time.sleep(0.01)
    assert all(is_running(process) for process in running.read_text().split())
    begun = time.monotonic()
    started.send_signal(signal.SIGINT)
    said = started.communicate()[1].decode()
    assert time.monotonic() - begun < 10  # the compilers would sleep for 60 s
    assert started.returncode == -signal.SIGINT and "KeyboardInterrupt" in said
    assert [process for process in running.read_text().split() if is_running(process)] == []
    assert list((tmp_path / "cache" / "dmr" / "cubin").iterdir()) == []


# ---- Machine code that is built with the package --------------------------------------------------------------------


@pytest.fixture
def built(nvcc, tmp_path, monkeypatch):
    """Machine code of all modules for sm_80 and sm_90, by a build; then nvcc is gone."""
    log = nvcc()
    monkeypatch.setenv(ahead.VARIABLE, "sm_80; sm_90")
    stale = compiler.PREBUILT / "scan-sm_90-000000000000000000000000.cubin"
    stale.parent.mkdir()
    stale.write_text("")
    assert ahead.build_ahead(source_folder(), compiler.PREBUILT) == ["sm_80", "sm_90"]
    assert not stale.exists()
    calls = len(log.read_text().splitlines())
    ahead.build_ahead(source_folder(), compiler.PREBUILT)
    assert len(log.read_text().splitlines()) == calls  # nothing is compiled twice
    nvcc("exit 1")
    return log


@pytest.mark.slow
def test_prebuilt_modules_are_used_without_nvcc(built, caplog):
    before = built.read_text()
    for capability, architecture in (((9, 0), "sm_90"), ((8, 0), "sm_80"), ((8, 9), "sm_80")):
        assert compiler.is_prebuilt(capability)
        found = compiler.cubins(compiler.modules(), capability)
        assert {path.parent for path in found} == {compiler.PREBUILT}
        assert found == [
            compiler.PREBUILT / cubin_name(source, source_folder(), architecture) for source in compiler.modules()
        ]
    for capability in ((7, 5), (8, 7), (10, 0)):  # another major version; a board whose code is its own
        assert not compiler.is_prebuilt(capability)
    assert built.read_text() == before and not caplog.records


@pytest.mark.slow
def test_outdated_prebuilt_modules_are_not_used(built, tmp_path, monkeypatch):
    changed = tmp_path / "cuda_src"
    for source in source_folder().rglob("*.cu*"):
        copy = changed / source.relative_to(source_folder())
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(source.read_bytes() + b"\n" * (source.name == "mesh.cuh"))
    monkeypatch.setattr(compiler, "source_folder", lambda: changed)
    assert not compiler.is_prebuilt(CAPABILITY)
    assert compiler.prebuilt(changed / "primitives" / "scan.cu", CAPABILITY) is None


@pytest.mark.slow
def test_none_disables_prebuilding(built, monkeypatch):
    monkeypatch.setenv(ahead.VARIABLE, "none")
    assert ahead.build_ahead(source_folder(), compiler.PREBUILT) == []
    assert list(compiler.PREBUILT.iterdir()) == []


def test_invalid_architectures_are_refused(nvcc, tmp_path, monkeypatch):
    for text in ("90", "sm_90;volta", "sm_9x"):
        with pytest.raises(ahead.AheadError, match="it must be names such as"):
            ahead.named_architectures({ahead.VARIABLE: text})
    assert ahead.named_architectures({}) is None
    nvcc("echo 'unsupported architecture' >&2; exit 1")
    monkeypatch.setenv(ahead.VARIABLE, "sm_99")
    with pytest.raises(ahead.AheadError, match=r"(?s)cannot be compiled for sm_99.*unsupported architecture"):
        ahead.build_ahead(source_folder(), tmp_path / "target")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ahead.AheadError, match="nvcc is not on the PATH"):
        ahead.build_ahead(source_folder(), tmp_path / "target")


@pytest.mark.slow
def test_prebuilding_for_visible_gpus_never_fails_the_build(nvcc, tmp_path, monkeypatch, capfd):
    nvcc()
    monkeypatch.delenv(ahead.VARIABLE, raising=False)
    monkeypatch.setattr(ahead, "visible_architectures", lambda: [])
    assert ahead.build_ahead(source_folder(), tmp_path / "target") == []
    assert not (tmp_path / "target").exists()
    monkeypatch.setattr(ahead, "visible_architectures", lambda: ["sm_90"])
    assert ahead.build_ahead(source_folder(), tmp_path / "target") == ["sm_90"]
    nvcc("exit 1")
    assert ahead.build_ahead(source_folder(), tmp_path / "other") == []
    assert "they will be compiled on first use" in capfd.readouterr().err


def test_the_driver_is_asked_for_architectures(monkeypatch):
    answers = "9 0\n9 0\n6 1\n8 6\n"
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, answers, ""))
    assert ahead.visible_architectures() == ["sm_90", "sm_86"]


def test_the_build_needs_only_the_standard_library():
    text = (ROOT / "setup.py").read_text()
    begin = text.index("def gpu_builder")
    function = text[begin : text.index("\n\n\n", begin)]
    program = (
        "import importlib, sys\nfrom pathlib import Path\nfrom types import ModuleType\nfrom typing import Any\n"
        f"ROOT = Path({str(ROOT)!r})\n{function}\n"
        "gpu_builder().build_ahead\n"
        "assert not {'numpy', 'platformdirs', 'rich'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True, cwd="/")
