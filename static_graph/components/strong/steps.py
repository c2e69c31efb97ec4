"""Steps of the decomposition into strong components, on the engine (`cuda_src/graph/components/steps.cu`)."""

from __future__ import annotations

import numpy as np

from dmr.common.clock import Clock
from dmr.memory import DeviceArray, DeviceCount, flagged_indices, open_device, pack
from static_graph.components import serial
from static_graph.components.outcome import Outcome
from static_graph.components.pivots import find_pivot, label_by_smallest
from static_graph.components.weak import hooking
from static_graph.engine.colours import GROWTH, coloured
from static_graph.engine.loop import Expansion, Frontier, how_for, run_rounds
from static_graph.engine.trimming import trimmed_nodes
from static_graph.graph.csr import CsrGraph, unchecked_graph
from static_graph.graph.device_graph import DeviceGraph
from static_graph.graph.incoming import required_incoming


class Decomposition:
    """The nodes that are left, and the steps that take components from them.

    Attributes:
        clock: the seconds by step; figures: rounds and nodes by step, with the names of the steps.
    """

    def __init__(self, graph: DeviceGraph, balance: str) -> None:
        """Begins with all nodes; `balance` is that of the engine.

        Raises:
            GraphError: the graph has 2^31 edges or more.
        """
        device, nodes = graph.device, graph.nodes
        back = required_incoming(graph)
        self._graph, self._back, self._how = graph, back, how_for(balance)
        self._numbers, self._labels = device.zeros(nodes, np.int32), device.empty(nodes, np.int32)
        self._mask, self._classes = device.array(np.ones(nodes, np.uint8)), device.empty(nodes, np.int32)
        device.launch("fill_indices", nodes, self._labels)
        self._left = nodes
        self._rounds = 0
        self._colourings = 0
        self.clock = Clock(device.synchronize)
        self.figures: dict[str, int] = {}

    def left(self) -> int:
        """Returns the number of nodes without a component."""
        return self._left

    def trim(self) -> None:
        """Takes the nodes that trimming removes, each of which is a component."""
        graph = self._graph
        trimmed, counts = trimmed_nodes(graph, self._how, alone=True, mask=self._mask)
        graph.device.launch("take_trimmed", graph.nodes, trimmed, self._numbers, self._mask)
        self._end_step("trim", counts.rounds)

    def take_component_of_pivot(self) -> None:
        """Takes the component of the node with the largest product of in- and out-degree."""
        if self._left:
            pivot = find_pivot(self._graph, self._back, self._numbers)
            self._graph.device.launch("fill_classes", self._graph.nodes, pivot, self._classes)
            forward, backward = self._search_both_ways()
            self._take(forward, backward)
        self._end_step("search", 0)

    def take_components_of_colours(self) -> None:
        """Takes one component of each colour: the nodes from which a search backward reaches the colour's node.

        Departure from the papers: every other turn colours the transposed graph. Along a path of components whose
        numbers fall, one colour reaches all of them, turn by turn; against it, each keeps its own.
        """
        graph, back = (self._graph, self._back) if self._colourings % 2 == 0 else (self._back, self._graph)
        self._colourings += 1
        colours, counts = coloured(graph, self._how, alone=True, growth=GROWTH, mask=self._mask)
        self._classes.copy_from(colours)
        self._count("colours", counts.rounds)
        self._take(None, self._search(back))
        self._end_step("colours", 0)

    def begin_by_weak_components(self) -> None:
        """Makes the weak components of the graph the classes; each gets a pivot."""
        nothing = self._graph.device.zeros(self._graph.nodes, np.int32)
        self._classes.copy_from(hooking.run(self._graph).labels)
        self._choose_pivots(nothing, nothing, 0)
        self._end_step("weak components", 0)

    def split_classes(self, turn: int) -> None:
        """Takes the component of each class's pivot, and splits the class by the two searches; `turn` counts from 1."""
        forward, backward = self._search_both_ways()
        self._take(forward, backward)
        self._choose_pivots(forward, backward, turn)
        self._end_step("split", 0)

    def _choose_pivots(self, forward: DeviceArray, backward: DeviceArray, turn: int) -> None:
        """Splits the classes by the nodes that two searches have reached, and gives each part a pivot."""
        device, nodes, salt = self._graph.device, self._graph.nodes, 0x9E3779B9 * turn % 2**32
        slots = device.empty(3 * nodes, np.uint32)
        slots.fill(255)
        parts = (forward, backward, salt, slots)
        device.launch("choose_pivots", nodes, self._numbers, self._classes, *parts)
        device.launch("enter_classes", nodes, self._numbers, *parts, self._classes)

    def finish(self) -> Outcome:
        """Gives the nodes that are left their components, by one thread of the CPU, and returns all components."""
        graph, device = self._graph, self._graph.device
        if self._left and device.threads:
            serial.finish(graph, self._numbers, self._labels)
        elif self._left:
            cpu = open_device("cpu", 1)
            numbers, labels = (cpu.array(each.download()) for each in (self._numbers, self._labels))
            serial.finish(DeviceGraph.upload(_on_host(graph), cpu), numbers, labels)
            self._labels.upload(labels.download())
        self.figures["finished nodes"] = self._left
        label_by_smallest(self._labels)
        self.clock.lap("finish")
        return Outcome(self._labels, self._rounds, self.clock.seconds, self.figures)

    def _search_both_ways(self) -> tuple[DeviceArray, DeviceArray]:
        return self._search(self._graph), self._search(self._back)

    def _search(self, graph: DeviceGraph) -> DeviceArray:
        """Searches from the pivots of all classes; returns which nodes are reached, (nodes,) int32."""
        device, reached = graph.device, self._flags(self._classes)
        pivots, _ = flagged_indices(reached)
        frontier = Frontier(graph, pivots.download(), mask=self._mask, alone=True)
        body = pack("Reach", classes=self._classes, reached=reached)

        def reach_alone(teams: DeviceCount) -> None:
            device.launch("reach_alone", teams, graph.csr, frontier.packed, self._how.packed, body)

        expansions = [Expansion(graph, "reach", body, frontier, self._how)]
        self._count("searches", run_rounds(frontier, expansions, reach_alone).rounds)
        return reached

    def _take(self, forward: DeviceArray | None, backward: DeviceArray) -> None:
        self._graph.device.launch(
            "take_components", self._graph.nodes,
            self._classes, forward, backward, self._numbers, self._mask, self._labels,
        )  # fmt: skip

    def _flags(self, classes: DeviceArray | None) -> DeviceArray:
        """Returns which nodes are left, or, with classes, are the pivots of classes that are left; (nodes,) int32."""
        flags = self._graph.device.empty(self._graph.nodes, np.int32)
        self._graph.device.launch("flag_left", self._graph.nodes, self._numbers, classes, flags)
        return flags

    def _count(self, step: str, rounds: int) -> None:
        self._rounds += rounds
        self.figures[f"rounds of {step}"] = self.figures.get(f"rounds of {step}", 0) + rounds

    def _end_step(self, step: str, rounds: int) -> None:
        """Counts the nodes that are left, and the time of the step."""
        _, left = flagged_indices(self._flags(None))
        self.figures[f"nodes of {step}"] = self.figures.get(f"nodes of {step}", 0) + self._left - left
        self._left = left
        if rounds:
            self._count(step, rounds)
        self.clock.lap(step)


def _on_host(graph: DeviceGraph) -> CsrGraph:
    """Returns the graph on the host."""
    return graph.host or unchecked_graph(graph.offsets.download(), graph.targets.download())
