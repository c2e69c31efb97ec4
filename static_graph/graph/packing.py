"""The CSR arrays of a graph on a device as one kernel argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmr.memory import DeviceArray, Packed, pack

# The field of Csr (cuda_src/graph/csr.cuh) for each kind of weights.
WEIGHT_FIELDS: dict[np.dtype[Any], str] = {
    np.dtype(np.int32): "weights32",
    np.dtype(np.int64): "weights64",
    np.dtype(np.float64): "real_weights",
}


def packed_csr(offsets: DeviceArray, targets: DeviceArray, weights: DeviceArray | None) -> Packed:
    """Packs offsets, (n + 1,) int32 or int64, targets, (m,) int32, and weights, (m,) of one of `WEIGHT_FIELDS`."""
    narrow = offsets.dtype == np.int32
    fields: dict[str, DeviceArray | None] = dict.fromkeys(WEIGHT_FIELDS.values())
    if weights is not None:
        fields[WEIGHT_FIELDS[weights.dtype]] = weights
    return pack(
        "Csr",
        offsets32=offsets if narrow else None,
        offsets64=None if narrow else offsets,
        targets=targets,
        nodes=offsets.size - 1,
        edges=targets.size,
        **fields,
    )
