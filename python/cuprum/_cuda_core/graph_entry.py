"""The entry of a graph: a node that is not there, which all nodes without predecessors come after."""

from __future__ import annotations

from typing import Any

from cuprum.graph import GraphDefinition, GraphNode


class EntryNode(GraphNode):
    """Stands for the beginning of a graph. What it makes are the graph's first nodes."""

    _graph: GraphDefinition

    type = None
    handle = None
    pred: Any = frozenset()
    succ: Any = frozenset()

    @property
    def graph(self) -> GraphDefinition:
        """The graph that it is the beginning of."""
        return self._graph

    def join(self, *nodes: GraphNode) -> Any:
        """A node that waits for `nodes`; without any, for nothing."""
        return self._graph.join(*nodes) if nodes else self._graph.empty()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EntryNode) and self._graph == other._graph

    def __hash__(self) -> int:
        return hash((EntryNode, self._graph))

    def __repr__(self) -> str:
        return "<GraphNode entry>"


def _make(name: str) -> Any:
    def make(self: EntryNode, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._graph, name)(*args, **kwargs)

    make.__name__ = name
    make.__doc__ = getattr(GraphDefinition, name).__doc__
    return make


# What makes nodes has the same names for a node and for a graph.
for _name in dir(GraphDefinition):
    if not _name.startswith("_") and _name != "join" and callable(getattr(GraphNode, _name, None)):
        setattr(EntryNode, _name, _make(_name))


def entry_of(graph: GraphDefinition) -> EntryNode:
    """The beginning of a graph."""
    entry = EntryNode.__new__(EntryNode)  # no node of the library: none of its functions is called on it
    entry._graph = graph
    return entry
