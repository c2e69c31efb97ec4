"""`python -m dmr` as a process: start-up, signals, pipes and terminals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dmr import io
from tests.support.command_line import environment
from tests.support.meshes import fan, grid

COMMAND = [sys.executable, "-m", "dmr"]
FULL = Path("/dev/full")


def dmr(*arguments, cwd, **changes):
    return subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, env=environment(**changes), capture_output=True, text=True, timeout=120
    )


def test_the_version_is_printed_without_heavy_imports(tmp_path):
    done = dmr("--version", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    name, version = done.stdout.split()
    assert name == "dmr"
    assert version[0].isdigit()
    program = "import sys, dmr.cli; dmr.cli.main(['--help']); sys.exit('numpy' in sys.modules or 'rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], env=environment(), capture_output=True)
    assert done.returncode == 0


def test_a_refinement_on_one_device_does_not_import_those_in_tiles(tmp_path):
    io.write(tmp_path / "input.ele", fan())
    program = (
        "import sys, dmr.cli; code = dmr.cli.main(['refine', 'input.ele']); "
        "sys.exit(code or 'dmr.distributed.jobs' in sys.modules or 'meshio' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], env=environment(), capture_output=True, cwd=tmp_path)
    assert done.returncode == 0


@pytest.mark.slow
def test_no_progress_and_no_colours_in_a_pipe(tmp_path):
    io.write(tmp_path / "input.ele", fan())
    done = dmr("refine", "input.ele", cwd=tmp_path, NO_COLOR="")
    assert (done.returncode, done.stdout) == (0, "")
    assert "\033" not in done.stderr
    assert "round 1" not in done.stderr


@pytest.mark.slow
def test_a_closed_pipe_is_not_an_error(tmp_path):
    io.write(tmp_path / "input.ele", fan())
    for arguments in (["info", "input.ele"], ["--help"], ["devices", "--json"]):
        with subprocess.Popen(
            [*COMMAND, *arguments], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            process.stdout.close()
            assert (process.stderr.read(), process.wait(timeout=60)) == (b"", 0)


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_named(tmp_path):
    io.write(tmp_path / "input.ele", fan())
    for arguments in (["info", "input.ele"], ["--help"], ["refine", "--help"], ["--version"]):
        with FULL.open("wb") as full:
            done = subprocess.run([*COMMAND, *arguments], cwd=tmp_path, env=environment(), stdout=full, stderr=-1)
        assert (done.returncode, done.stderr) == (1, b"dmr: error: the disk is full\n"), arguments


@pytest.mark.slow
def test_ascii_output_for_ascii_terminals(tmp_path):
    io.write(tmp_path / "ångström.ele", fan())
    done = dmr("info", "ångström.ele", cwd=tmp_path, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "####" in done.stdout
    done = dmr("info", "ångström.ele", cwd=tmp_path, PYTHONIOENCODING="utf-8")
    assert "████" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs pseudo-terminals")
def test_a_terminal_gets_a_progress_bar_and_keeps_the_messages(tmp_path):
    io.write(tmp_path / "input.ele", fan())
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, "refine", "input.ele"],
        cwd=tmp_path,
        env=environment(TERM="xterm", COLUMNS="100"),
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the reader has exited
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert (process.communicate(timeout=60)[0], process.returncode) == (b"", 0)
    assert b"refining" in said
    assert b"bad of" in said
    assert b"wrote input.1.node" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "code", "farewell"),
    [(signal.SIGINT, 130, b"dmr: interrupted\n"), (signal.SIGTERM, 143, b"dmr: terminated\n")],
    ids=["ctrl-c", "sigterm"],
)
@pytest.mark.parametrize("wait", [0.15, 0.4, 0.8])
def test_a_signal_leaves_nothing_half_written(tmp_path, wait, sent, code, farewell):
    io.write(tmp_path / "input.npz", grid(np.arange(601.0), 4 * np.arange(601.0)))
    process = subprocess.Popen(
        [*COMMAND, "refine", "input.npz", "--threads", "1"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    time.sleep(wait)
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert out == b""
    left = sorted(path.name for path in tmp_path.iterdir())
    if process.returncode == 0 or len(left) > 1:  # a fast machine had written its files before
        assert left == ["input.1.ele", "input.1.node", "input.npz"]
        assert len(io.read(tmp_path / "input.1.ele").triangles) > 2 * 600**2
        return
    # Python's own exits while it is still starting: 1 before it imports anything of the program.
    starting = process.returncode == 1 and err.endswith(b"KeyboardInterrupt\n") and b"/dmr/" not in err
    if process.returncode != -sent and not starting:
        assert (process.returncode, err) == (code, farewell)
    assert left == ["input.npz"]


# Waits while a file is half written: in fsync, or in meshio.
SLOW_WRITER = """
import os, sys, time
import meshio
from dmr import cli
from dmr.common.files import replacing

def wait(_):
    os.write(1, b"writing\\n")
    time.sleep(2)

def half(path, *_, **__):
    path.write_text("half a file")
    wait(path)

replacing.flush_file = wait
meshio.write = half
sys.exit(cli.main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("output", ["out.npz", "out.vtu"])
def test_sigterm_while_writing_removes_the_unfinished_file(tmp_path, output):
    io.write(tmp_path / "input.npz", fan())
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_WRITER, "refine", "input.npz", "-o", output, "--quiet"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"writing\n"
    (temporary,) = (path.name for path in tmp_path.iterdir() if path.name != "input.npz")
    assert temporary.startswith(".dmr-") and temporary.endswith(".tmp")
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=60) == (b"", b"dmr: terminated\n")
    assert process.returncode == 143
    assert [path.name for path in tmp_path.iterdir()] == ["input.npz"]


# SIGTERM comes while a file is flushed to the disk, and once more while the temporary files are removed.
TWICE_TERMINATED = """
import os, signal, sys, time
from pathlib import Path
from dmr import cli
from dmr.common.files import replacing
flush, unlink = replacing.flush_file, Path.unlink

sent = []

def slow_flush(descriptor):
    if not sent:
        sent.append(True)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.2)
    flush(descriptor)

def interrupted_unlink(self, *args, **kwargs):
    if self.name.endswith(".tmp"):
        os.kill(os.getpid(), signal.SIGTERM)
    unlink(self, *args, **kwargs)

replacing.flush_file, Path.unlink = slow_flush, interrupted_unlink
sys.exit(cli.main())
"""


@pytest.mark.slow
def test_a_second_sigterm_does_not_interrupt_the_cleanup(tmp_path):
    arguments = ["generate", "random", "50", "-o", "out.ele", "--quiet"]
    command = [sys.executable, "-c", TWICE_TERMINATED, *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (143, b"dmr: terminated\n")
    assert list(tmp_path.iterdir()) == []


# A signal comes while an extension module is imported, which replaces the interrupt by an ImportError without a cause.
SWALLOWED = """
import os, signal, sys, time
from dmr import cli
from dmr.cli import info

def run(arguments, console):
    try:
        os.kill(os.getpid(), int(arguments.mesh))
        time.sleep(5)
    except KeyboardInterrupt:
        pass
    raise ImportError("a module could not be imported")

info.run = run
sys.exit(cli.main())
"""


@pytest.mark.parametrize(
    ("sent", "code", "farewell"),
    [(signal.SIGINT, 130, b"dmr: interrupted\n"), (signal.SIGTERM, 143, b"dmr: terminated\n")],
)
def test_a_signal_that_an_import_swallows_ends_the_command(tmp_path, sent, code, farewell):
    command = [sys.executable, "-c", SWALLOWED, "info", str(int(sent))]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (code, farewell)


# Ctrl-C while a module is imported, once.
INTERRUPTED_START = """
import sys

class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == module:
            sys.meta_path.remove(self)
            raise KeyboardInterrupt

program, module = sys.argv[1:]
sys.meta_path.insert(0, Interrupt())
sys.argv[1:] = ["--version"]
__import__(f"{program}.__main__").__main__.main()
"""


@pytest.mark.parametrize("program", ["dmr", "static_graph"])
@pytest.mark.parametrize("module", ["{}.cli", "dmr.common.errors", "dmr.common.command_line.program"])
def test_ctrl_c_while_modules_are_imported_shows_no_traceback(program, module):
    command = [sys.executable, "-c", INTERRUPTED_START, program, module.format(program)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", f"{program}: interrupted\n")


def test_ignored_sigterm_stays_ignored(tmp_path):
    program = "import signal, sys; from dmr import cli; signal.signal(signal.SIGTERM, signal.SIG_IGN); cli.main()"
    program += "; sys.exit(signal.getsignal(signal.SIGTERM) != signal.SIG_IGN)"
    done = subprocess.run([sys.executable, "-c", program, "--version"], cwd=tmp_path, env=environment())
    assert done.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"], ids=["stdout", "stderr", "all"])
@pytest.mark.parametrize(
    "arguments",
    ["refine input.ele -o out.ele --json -v", "info input.ele", "info input.ele --json", "--help"],
)
def test_closed_streams_are_not_an_error(tmp_path, closed, arguments):
    io.write(tmp_path / "input.ele", fan())
    command = f'exec "{sys.executable}" -m dmr {arguments} {closed}'
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0
    assert "Error" not in done.stderr
    if "-o" in arguments:
        assert len(io.read(tmp_path / "out.ele").triangles) > len(fan().triangles)
        assert "dmr" not in (tmp_path / "out.ele").read_text(), "nothing is printed into a file"


def test_exit_code_of_an_error_without_stderr(tmp_path):
    command = f'exec "{sys.executable}" -m dmr info none.ele 2>&-'
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment(), capture_output=True)
    assert (done.returncode, done.stdout) == (1, b"")
