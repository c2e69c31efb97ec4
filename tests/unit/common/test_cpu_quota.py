"""Threads default to the smaller of the affinity and the CPU quota of the process's control groups."""

from __future__ import annotations

import os

import pytest

from dmr.common import threads
from dmr.common.threads import available_threads, cpu_quota


def quota(folder, membership, files):
    """The CPU quota for given contents of /proc/self/cgroup and /sys/fs/cgroup."""
    (folder / "cgroup").write_text(membership)
    for name, text in files.items():
        path = folder / "mounted" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return cpu_quota(folder / "cgroup", folder / "mounted")


@pytest.mark.parametrize(
    ("limit", "cores"),
    [("200000 100000", 2), ("150000 100000", 2), ("100000 100000", 1), ("1000 100000", 1), ("max 100000", None)],
)
def test_cgroup_2_quota_is_rounded_up(tmp_path, limit, cores):
    assert quota(tmp_path, "0::/a/b\n", {"a/b/cpu.max": limit}) == cores


def test_the_lowest_quota_of_the_path_applies(tmp_path):
    files = {"cpu.max": "max 100000", "a/cpu.max": "300000 100000", "a/b/cpu.max": "800000 100000"}
    assert quota(tmp_path, "0::/a/b\n", files) == 3


def test_in_a_container_the_mounted_root_is_the_group(tmp_path):
    assert quota(tmp_path, "0::/../../docker/abc\n", {"cpu.max": "400000 100000"}) == 4


@pytest.mark.parametrize(("limit", "cores"), [("250000", 3), ("50000", 1), ("-1", None)])
@pytest.mark.parametrize("folder", ["cpu", "cpu,cpuacct"])
def test_cgroup_1_quota_is_rounded_up(tmp_path, limit, cores, folder):
    files = {f"{folder}/a/cpu.cfs_quota_us": f"{limit}\n", f"{folder}/a/cpu.cfs_period_us": "100000\n"}
    membership = "5:memory:/a\n4:cpu,cpuacct:/a\n1:name=systemd:/a\n0::/a\n"
    assert quota(tmp_path, membership, files) == cores


@pytest.mark.parametrize("text", ["", "nonsense", "0 100000", "5 0", "1e5 100000", "-5 100000"])
def test_an_invalid_quota_is_ignored(tmp_path, text):
    assert quota(tmp_path, "0::/\n", {"cpu.max": text}) is None


def test_no_quota_without_control_groups(tmp_path):
    assert cpu_quota(tmp_path / "missing", tmp_path) is None


def test_threads_in_containers_with_a_cpu_quota(monkeypatch):
    cores = len(os.sched_getaffinity(0))
    for given, expected in ((None, cores), (1, 1), (cores + 1, cores)):
        monkeypatch.setattr(threads, "_quota", lambda given=given: given)
        assert available_threads() == expected == threads.thread_count(None)
