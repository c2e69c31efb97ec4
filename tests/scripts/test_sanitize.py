"""The script for compute-sanitizer: its families on a CPU, and parsing of the tools' output."""

from __future__ import annotations

import json

import pytest

from dmr.memory import signatures
from scripts.sanitize import __main__ as sanitize_gpu
from scripts.sanitize import families as sanitizer_families
from scripts.sanitize import steps as sanitizer_steps
from scripts.sanitize.steps import Step

pytestmark = pytest.mark.slow

# As compute-sanitizer 2025.3.1 prints it.
BARRIER = """========= COMPUTE-SANITIZER
case: narrow, all
========= Barrier error detected. Divergent thread(s) in warp.
=========     at void sum_one_tile<int>(long, const T1 *, long, T1 *, T1 *, T1 *)+0x690 in scan.cu:37
=========     by thread (96,0,0) in block (0,0,0)
=========         Device Frame: sum_tiles_int32+0x1f0 in scan.cu:70
=========
========= Barrier error detected. Divergent thread(s) in warp.
=========     at void sum_one_tile<int>(long, const T1 *, long, T1 *, T1 *, T1 *)+0x690 in scan.cu:37
=========     by thread (97,0,0) in block (0,0,0)
=========         Device Frame: sum_tiles_int32+0x1f0 in scan.cu:70
=========
"""
DIED = """========= COMPUTE-SANITIZER
case: first
case: second
========= Error: process didn't terminate successfully
=========     The application may have hit an error when dereferencing Unified Memory from the host.
========= Target application returned an error
========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)
"""
NOT_FOLLOWED = """========= COMPUTE-SANITIZER
========= Warning: CUDA Dynamic Parallelism is not supported by the selected tool
=========
case: atomic
{}
========= ERROR SUMMARY: 1 error
"""
DIGESTS = {"atomic": "c0ffee"}
DONE = json.dumps({"digests": DIGESTS, "launched": ["scan_tiles_int32"]})


def test_the_families_launch_every_kernel_with_equal_results(capsys):
    assert sanitize_gpu.main(["--device", "cpu"]) == 0
    said = capsys.readouterr().out
    assert said.endswith("clean\n") and all(name in said for name in sanitizer_families.FAMILIES)
    assert set(signatures()) > sanitize_gpu.HOST_ONLY


def test_differing_results_and_unlaunched_kernels_are_reported(monkeypatch, capsys):
    results = iter("ab")
    families = {"predicates": lambda device: iter([("a case", lambda: next(results))])}
    for module in (sanitize_gpu, sanitizer_families):
        monkeypatch.setattr(module, "FAMILIES", families)
    assert sanitize_gpu.main(["--device", "cpu"]) == 1
    said = capsys.readouterr().out
    assert "results differ from one thread of the CPU: a case" in said and "incircle_all" in said


def test_the_families_are_listed_and_a_missing_gpu_is_reported(monkeypatch, capsys):
    assert sanitize_gpu.main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(sanitizer_families.FAMILIES)
    assert all(len(line.split()) > 2 for line in lines)
    monkeypatch.setattr(sanitize_gpu, "gpu_absence", lambda: "no card")
    assert sanitize_gpu.main([]) == 4
    assert "no card" in capsys.readouterr().err


def test_reports_are_counted_by_kind_and_place():
    found = sanitizer_steps.reports(BARRIER + "========= ERROR SUMMARY: 256 errors\n")
    barrier = "Barrier error detected. Divergent thread(s) in warp."
    [place] = [text for text in found if text.startswith(barrier)]
    assert found[place] == 2 and place.endswith("in scan.cu:37") and "0x" not in place
    assert found["reports beyond those that are printed"] == 254
    race = """========= Warning: Race reported between Write access at k(int)+0x10 in a.cu:3
=========     and Read access at k(int)+0x20 in a.cu:4 [12 hazards]
========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)
"""
    text = "Warning: Race reported between Write access at k(int) in a.cu:3 and Read access at k(int) in a.cu:4"
    assert sanitizer_steps.reports(race) == {text: 1}


def examined(tool, family, output, code=0):
    step = Step(tool, family, output=output)
    sanitizer_steps.examine(step, code, 60, DIGESTS)
    return step


def test_a_step_is_clean_only_with_exit_code_0_and_right_results():
    clean = f"========= COMPUTE-SANITIZER\ncase: atomic\n{DONE}\n========= ERROR SUMMARY: 0 errors\n"
    assert examined("memcheck", "bfs-none", clean).clean
    assert examined("memcheck", "bfs-none", clean).launched == {"scan_tiles_int32"}
    assert "results differ" in examined("memcheck", "bfs-none", clean.replace("c0ffee", "decaf")).failure
    assert "results differ" in examined("memcheck", "bfs-none", clean.replace('"atomic": "c0ffee"', "")).failure
    assert "in case: second" in examined("racecheck", "bfs-none", DIED, 11).failure
    assert "not done after 60 s, in case: second" in examined("racecheck", "bfs-none", DIED, None).failure
    assert "exit code -11" in examined("memcheck", "bfs-none", clean, -11).failure
    assert examined("synccheck", "bfs-none", BARRIER + DONE + "\n").unexpected == 2


def test_known_exceptions_apply_to_their_tools_and_families_only():
    output = NOT_FOLLOWED.format(DONE)
    known = examined("racecheck", "bfs-child-launch", output)
    assert known.clean and known.expected == 1
    assert not examined("racecheck", "bfs-none", output).clean
    assert not examined("memcheck", "bfs-child-launch", output).clean
    for exception in sanitizer_steps.EXCEPTIONS:
        assert exception.limitation and exception.safe


TOOL = """#!/bin/sh
while [ "${1#--}" != "$1" ]; do shift 2; done
%s
"$@"
echo "========= ERROR SUMMARY: 0 errors"
"""


def test_a_step_runs_its_family_under_the_tool(tmp_path, monkeypatch):
    """A tool of the same name, which is killed at its first run."""
    tool = tmp_path / "compute-sanitizer"
    tool.write_text(TOOL % f"[ -e {tmp_path}/once ] || {{ touch {tmp_path}/once; kill -SEGV $$; }}")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    expected = sanitize_gpu.on_one_thread("rank-sequential")
    step = Step("memcheck", "rank-sequential")
    sanitizer_steps.sanitize(
        step, "cpu", dict(sanitize_gpu.os.environ), 60, expected, device_loops=True
    )  # fmt: skip
    assert step.clean and step.digests == expected and step.deaths == 1
    assert "rank_in_sequence" in step.launched


def test_a_step_over_its_time_limit_is_ended(tmp_path, monkeypatch):
    tool = tmp_path / "compute-sanitizer"
    tool.write_text("#!/bin/sh\necho 'case: endless'\nsleep 60\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    step = Step("memcheck", "rank-sequential")
    sanitizer_steps.sanitize(step, "cpu", dict(sanitize_gpu.os.environ), 0.3, {}, device_loops=True)
    assert step.failure == "not done after 0.3 s, in case: endless" and step.seconds < 30


def test_gpu_arrays_are_allocated_separately_and_exactly(monkeypatch):
    from dmr.memory.cuda import compiler, pool

    for module, name in ((pool, "LEAST_BITS"), (pool, "SIZE_BITS"), (compiler, "PREBUILT")):
        monkeypatch.setattr(module, name, getattr(module, name))  # changed by the script, restored afterwards
    monkeypatch.setattr(pool.MemoryPool, "allocate", pool.MemoryPool.allocate)
    taken, freed = [], []
    monkeypatch.setattr(pool, "_allocate", lambda nbytes: taken.append(nbytes) or len(taken))
    monkeypatch.setattr(pool, "call", lambda name, pointer: freed.append((name, pointer.value)))
    sanitizer_families.allocate_exactly()
    memory = pool.MemoryPool(lambda: None)
    for nbytes in (1, 417, 70_001, 417):
        memory.allocate(nbytes, MemoryError)  # dropped at once
    assert taken == [1, 417, 70_001, 417] and freed == [("cuMemFree_v2", number) for number in (1, 2, 3)]
    sanitizer_families.compile_anew()
    assert not compiler.PREBUILT.exists()
    with pytest.raises(AttributeError, match="no_such_name"):
        sanitizer_families.changeable(pool, "no_such_name")


@pytest.mark.gpu
def test_one_family_is_clean_under_every_tool():
    if sanitize_gpu.shutil.which("compute-sanitizer") is None:
        pytest.skip("compute-sanitizer is not on the PATH")
    assert sanitize_gpu.main(["--family", "bfs-collapse-global"]) == 0
