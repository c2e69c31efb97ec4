"""Readers return or raise one of dmr's own errors, whatever a file holds."""

from __future__ import annotations

import json
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dmr
from dmr import io
from dmr.errors import FileError, OutOfMemoryError
from tests.support.fuzzing import check_call

MESH = dmr.Mesh(
    [[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.4]],
    [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
    segments=[[0, 1], [1, 2]],
    segment_markers=[3, 4],
    vertex_markers=[1, 1, 1, 1, 0],
    vertex_attributes=np.ones((5, 1)),
    triangle_attributes=np.ones((4, 1)),
    area_bounds=np.ones(4),
)
DOMAIN = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "properties": {"a": 1},
            "geometry": {"type": "Polygon", "coordinates": [[[0, 0], [4, 0], [4, 3], [0, 0]]]},
        },
        {"type": "Feature", "properties": {}, "geometry": {"type": "Point", "coordinates": [1, 0.5]}},
    ],
}
OURS = (".node", ".ele", ".poly", ".area", ".neigh", ".edge", ".geojson", ".npz", ".2dm", ".14")
THROUGH_MESHIO = (".vtu", ".vtk", ".msh", ".stl", ".obj", ".off", ".ply", ".mesh", ".su2", ".xdmf", ".med", ".inp")
WORDS = b"-1 nan inf # 1e400 1000000000000 2147483648 0 [ ] { , null true - . < >"
PIECES = [*WORDS.split(), b"", b" ", b"\0", b"\xff\xfe", b"9" * 30, b"1" * 400, b"\n", b'"', b"\x80", b"\033[2J"]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    """Files that are read together, by suffix."""
    found = {}
    for suffix in (*OURS, *THROUGH_MESHIO):
        folder = tmp_path_factory.mktemp("samples")
        if suffix == ".geojson":
            (folder / "a.geojson").write_text(json.dumps(DOMAIN))
        elif suffix in OURS[:6]:
            dmr.write(folder / "a.ele", MESH, neighbours=True, edges=True)
        else:
            try:
                dmr.write(folder / f"a{suffix}", MESH)
            except FileError:  # a package is missing, or a format is only read
                continue
        found[suffix] = {each.name: each.read_bytes() for each in folder.iterdir()}
    assert set(OURS) <= set(found) and ".vtu" in found
    return found


def reader(suffix: str) -> Callable[..., Any]:
    return {".neigh": io.read_neighbours, ".edge": io.read_edges}.get(suffix, dmr.read)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """One to four changes: bytes flipped, cut off, repeated, or replaced by something with a meaning."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice((0, 1, 1, 2, 8, 40)))
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at]
        elif kind == 2:
            data = data[:at] + data[end:]
        elif kind == 3:
            data = data[:end] + data[at:]
        else:
            data = data[:at] + rng.choice(PIECES) + data[end:]
    return data


def attempt(folder: Path, files: dict[str, bytes], suffix: str, rng: random.Random) -> None:
    folder.mkdir()
    spoiled = rng.choice(sorted(files))
    for name, data in files.items():
        (folder / name).write_bytes(damaged(data, rng) if name == spoiled else data)
    check_call(reader(suffix), path=folder / f"a{suffix}")
    shutil.rmtree(folder)


def attempt_all(tmp_path: Path, samples: dict[str, dict[str, bytes]], rounds: int, seed: int) -> None:
    for suffix, files in samples.items():
        rng = random.Random(f"{suffix} {seed}")
        for k in range(rounds):
            try:
                attempt(tmp_path / f"{suffix[1:]}-{k}", files, suffix, rng)
            except Exception as error:
                raise AssertionError(f"{suffix}, round {k}, seed {seed}: the files are left in {tmp_path}") from error


@pytest.mark.slow
def test_damaged_files_raise_only_own_errors(tmp_path: Path, samples: dict[str, dict[str, bytes]]) -> None:
    attempt_all(tmp_path, samples, rounds=30, seed=18)


@pytest.mark.large
@pytest.mark.parametrize("seed", range(10))
def test_many_damaged_files_raise_only_own_errors(
    tmp_path: Path, samples: dict[str, dict[str, bytes]], seed: int
) -> None:
    attempt_all(tmp_path, samples, rounds=500, seed=seed)


def test_truncated_files_raise_only_own_errors(tmp_path: Path, samples: dict[str, dict[str, bytes]]) -> None:
    for suffix in OURS:
        files = samples[suffix]
        for name, data in files.items():
            (tmp_path / name).write_bytes(data)
        name = f"a{suffix}"
        for end in range(0, len(files[name]), 1 + len(files[name]) // 20):
            (tmp_path / name).write_bytes(files[name][:end])
            check_call(reader(suffix), path=tmp_path / name)


def refused(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        dmr.read(path)
    assert isinstance(caught.value, ValueError) and caught.value.exit_code == 1
    return caught.value.reason


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_of_several_hundred_digits_in_geojson(tmp_path, digits):
    path = tmp_path / "a.geojson"
    path.write_text('{"type": "Polygon", "coordinates": [[[0, 0], [%s, 0], [0, 1]]]}' % ("9" * digits))
    assert "too large" in refused(path) or "digits" in refused(path)
    path.write_text(
        '{"type": "Feature", "properties": {"a": %s}, "geometry": {"type": "Polygon", '
        '"coordinates": [[[0, 0], [1, 0], [0, 1]]]}}' % ("9" * digits)
    )
    with pytest.raises(FileError, match=r"too large|digits"):
        dmr.domains.from_geojson(path, attribute="a")


def test_an_npz_with_its_encrypted_flag_set(tmp_path):
    path = tmp_path / "a.npz"
    dmr.write(path, MESH)
    data = bytearray(path.read_bytes())
    for head, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(head)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(head, at + 4)
    path.write_bytes(data)
    assert "encrypted" in refused(path)


def test_an_npz_header_promising_more_than_the_memory(tmp_path):
    header = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 2), }"
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:  # with false headers
        archive.writestr("vertices.npy", header.ljust(127) + b"\n")
        archive.writestr("segments.npy", header.ljust(127) + b"\n")
    with pytest.raises(FileError, match=r"too little memory|is damaged"):
        dmr.read(tmp_path / "a.npz")


def test_a_compressed_npz_larger_than_the_memory(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", vertices=np.zeros((2**22, 2)), segments=np.zeros((0, 2), np.int32))
    monkeypatch.setattr("dmr.common.available.available_memory", lambda: 2**26)
    with pytest.raises(OutOfMemoryError, match=r"a\.npz, unpacked, needs 64\.0 MiB of memory, and 64\.0 MiB are free"):
        dmr.read(tmp_path / "a.npz")
