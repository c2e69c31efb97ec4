"""Checks of the CSR arrays of other libraries, on the arrays' device, without copies where dtypes fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmr.common.arguments import kind_of
from dmr.common.text import counted, numbered
from dmr.memory import Device, DeviceArray, Packed, device_of, minmax_float64
from static_graph.errors import GraphError
from static_graph.graph.checks import MOST, checked_nodes
from static_graph.graph.gpu_modules import ARRAY_CHECKS
from static_graph.graph.packing import WEIGHT_FIELDS, packed_csr

NO_FAULT = 2**63 - 1


def checked_arrays(
    offsets: Any, targets: Any, weights: Any, threads: int | None
) -> tuple[DeviceArray, DeviceArray, DeviceArray | None, float]:
    """Shares the arrays of a graph with their device, and checks them there; see `DeviceGraph.from_arrays`.

    Returns:
        Offsets, targets, weights and the largest weight (1 without weights), as `DeviceGraph` takes them.
    """
    device = device_of(offsets, threads)  # which are never empty
    with device.lock, device.current:
        device.prepare(*ARRAY_CHECKS)
        starts = _shared(device, "offsets", offsets, np.int32, np.int64)
        ends = _shared(device, "targets", targets, np.int32, np.int64)
        if starts.size == 0:
            raise GraphError("offsets must have one number more than there are nodes: at least a 0")
        nodes = checked_nodes(starts.size - 1)
        if starts.dtype == np.int32 and ends.size > MOST:
            raise GraphError(f"{ends.size} edges are more than offsets of int32 can count: make them int64")
        if ends.dtype == np.int64:
            ends = _narrow(ends, nodes)
        values = None if weights is None else _weights(device, weights, ends.size)
        csr = packed_csr(starts, ends, values)
        _check(csr, starts, ends)
        largest = 1.0 if values is None else _largest(csr, values)
        device.synchronize()
    return starts, ends, values, largest


def _shared(device: Device, name: str, array: Any, *dtypes: Any) -> DeviceArray:
    """Shares an array with its device; messages call it `name`."""
    shared = array if isinstance(array, DeviceArray) and array.device.name == device.name else device.share(array)
    if shared.dtype not in dtypes:
        wanted = " or ".join(np.dtype(dtype).name for dtype in dtypes)
        raise GraphError(f"{name} must be {wanted}, not {shared.dtype} ({kind_of(array)})")
    return shared


def _weights(device: Device, weights: Any, edges: int) -> DeviceArray:
    """Shares weights; those of float32 are copied to float64."""
    values = _shared(device, "weights", weights, *WEIGHT_FIELDS, np.float32)
    if values.size != edges:
        raise GraphError(
            f"{counted(values.size, 'weight')}, but {counted(edges, 'target')}: there must be one per edge"
        )
    if values.dtype != np.float32:
        return values
    wide = device.empty(edges, np.float64)
    device.launch("widen_weights", edges, values, wide)
    return wide


def _narrow(given: DeviceArray, nodes: int) -> DeviceArray:
    """Copies targets to int32."""
    device, fault = given.device, given.device.array(np.array([NO_FAULT]))
    targets = device.empty(given.size, np.int32)
    device.launch("narrow_targets", given.size, given, nodes, targets, fault)
    _raise_fault(fault, given, f"leads to node {{}}, but {numbered(nodes, 'node')}")
    return targets


def _check(csr: Packed, offsets: DeviceArray, targets: DeviceArray) -> None:
    """Raises GraphError unless the arrays form a graph."""
    device, nodes, edges = offsets.device, offsets.size - 1, targets.size
    first, last = int(offsets[:1].download()[0]), int(offsets[nodes:].download()[0])
    if first != 0:
        raise GraphError(f"offsets must begin with 0, not {first}")
    if last != edges:
        raise GraphError(f"offsets end with {last}, but with {counted(edges, 'target')} they must end with that")
    fault = device.array(np.array([NO_FAULT]))
    device.launch("check_offsets", nodes, csr, fault)
    node = int(fault.download()[0])
    if node != NO_FAULT:
        raise GraphError("its edges end before they begin", "node", node)
    device.launch("check_targets", edges, csr, fault)
    _raise_fault(fault, targets, f"leads to node {{}}, but {numbered(nodes, 'node')}")


def _largest(csr: Packed, weights: DeviceArray) -> float:
    """Returns the largest weight, 0 if there is none; raises GraphError for an invalid weight."""
    device, edges = weights.device, weights.size
    fault = device.array(np.array([NO_FAULT]))
    if weights.dtype == np.float64:
        device.launch("check_real_weights", edges, csr, fault)
        _raise_fault(fault, weights, "has the weight {}; distances need finite, non-negative weights")
        return minmax_float64(weights)[1] if edges else 0
    largest = device.zeros(1, np.int64)
    device.launch("check_whole_weights", edges, csr, fault, largest)
    _raise_fault(fault, weights, "has the weight {}; distances need non-negative weights")
    return int(largest.download()[0])


def _raise_fault(fault: DeviceArray, values: DeviceArray, message: str) -> None:
    """Raises GraphError if a kernel has found a fault; the value that caused it completes the message."""
    edge = int(fault.download()[0])
    if edge != NO_FAULT:
        value = values[edge : edge + 1].download()[0]
        raise GraphError(message.format(value), "edge", edge)
