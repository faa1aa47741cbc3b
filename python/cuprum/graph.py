"""CUDA graphs: work that is defined once and launched many times.

>>> from cuprum import Device
>>> from cuprum.graph import GraphDefinition
>>> device = Device(); device.set_current()
>>> seen = []
>>> definition = GraphDefinition()
>>> first = definition.callback(lambda: seen.append(1))
>>> second = definition.callback(lambda: seen.append(2))
>>> second.pred = {first}
>>> graph = definition.instantiate()
>>> stream = device.create_stream()
>>> graph.launch(stream); stream.sync()
>>> seen
[1, 2]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import Any

from ._core import (
    AllocNode,
    ChildGraphNode,
    ConditionalNode,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    ExecutableChildGraphNode,
    ExecutableEventRecordNode,
    ExecutableEventWaitNode,
    ExecutableGraphNode,
    ExecutableHostCallbackNode,
    ExecutableKernelNode,
    ExecutableMemcpyNode,
    ExecutableMemsetNode,
    FreeNode,
    Graph,
    GraphBuilder,
    GraphCondition,
    GraphDefinition,
    GraphNode,
    HostCallbackNode,
    IfElseNode,
    IfNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
    SwitchNode,
    WhileNode,
)
from ._errors import NotSupportedError
from ._options import GraphCompleteOptions, GraphDebugPrintOptions
from ._types import show_as_members_of


class AdjacencySetProxy(MutableSet[GraphNode]):
    """The nodes before or behind a node, as a set: reads ask the driver, changes are made in the graph."""

    __slots__ = ("_behind", "_node")

    def __init__(self, node: GraphNode, behind: bool) -> None:
        self._node = node
        self._behind = behind

    @classmethod
    def _from_iterable(cls, nodes: Iterable[Any]) -> set[Any]:  # type: ignore[override]
        return set(nodes)  # what the operators of sets give is no view of the graph

    def __contains__(self, node: object) -> bool:
        return isinstance(node, GraphNode) and node in self._node._adjacent(self._behind)

    def __iter__(self) -> Iterator[GraphNode]:
        return iter(self._node._adjacent(self._behind))

    def __len__(self) -> int:
        return len(self._node._adjacent(self._behind))

    def add(self, node: GraphNode) -> None:
        """Adds an edge, unless it is there already."""
        self.update([node])

    def discard(self, node: GraphNode) -> None:
        """Removes an edge; does nothing when it is not there."""
        if isinstance(node, GraphNode):
            self._node._remove_adjacent(self._behind, [node])

    def update(self, *others: GraphNode | Iterable[GraphNode]) -> None:
        """Adds edges to several nodes; when one is refused none is added."""
        nodes: list[Any] = []
        for other in others:
            nodes.extend([other] if isinstance(other, GraphNode) else other)
        for node in nodes:
            if not isinstance(node, GraphNode):
                raise TypeError(f"expected GraphNode, got {type(node).__name__}")
        if nodes:
            self._node._add_adjacent(self._behind, nodes)

    def clear(self) -> None:
        """Removes all edges on this side."""
        self._node._remove_adjacent(self._behind, self._node._adjacent(self._behind))

    def __ior__(self, nodes: Iterable[GraphNode]) -> AdjacencySetProxy:  # type: ignore[override,misc]
        self.update(nodes)
        return self

    def __isub__(self, nodes: Iterable[Any]) -> AdjacencySetProxy:  # type: ignore[override,misc]
        self._node._remove_adjacent(self._behind, [node for node in nodes if isinstance(node, GraphNode)])
        return self

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self)) + "}"


def _repr_svg_(self: GraphDefinition) -> str | None:
    """For notebooks, which show the graph's picture where Graphviz is installed."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.svg")
        try:
            self.save_svg(str(path))
        except NotSupportedError:
            return None
        return path.read_text(encoding="utf-8")


def _picture_of_builder(builder: GraphBuilder) -> str | None:
    """The same of what a builder has captured; None before there is something."""
    try:
        graph = builder.graph_definition
    except RuntimeError:  # it is closed, or has not captured yet
        return None
    return _repr_svg_(graph)


GraphDefinition._repr_svg_ = _repr_svg_  # type: ignore[attr-defined]

__all__ = [
    "AllocNode",
    "ChildGraphNode",
    "ConditionalNode",
    "EmptyNode",
    "EventRecordNode",
    "EventWaitNode",
    "ExecutableChildGraphNode",
    "ExecutableEventRecordNode",
    "ExecutableEventWaitNode",
    "ExecutableGraphNode",
    "ExecutableHostCallbackNode",
    "ExecutableKernelNode",
    "ExecutableMemcpyNode",
    "ExecutableMemsetNode",
    "FreeNode",
    "Graph",
    "GraphBuilder",
    "GraphCompleteOptions",
    "GraphCondition",
    "GraphDebugPrintOptions",
    "GraphDefinition",
    "GraphNode",
    "HostCallbackNode",
    "IfElseNode",
    "IfNode",
    "KernelNode",
    "MemcpyNode",
    "MemsetNode",
    "SwitchNode",
    "WhileNode",
]

show_as_members_of(__name__, [globals()[name] for name in __all__])
