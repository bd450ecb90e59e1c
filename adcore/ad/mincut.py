"""Minimum cut of a small directed graph (Dinic), cutting as close to the sink as possible.

Nodes are any hashables; capacities integers or ``INFINITE``. Linear memory; the plan's graphs have one node pair a value.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

INFINITE = 1 << 60


class FlowGraph:
    def __init__(self) -> None:
        self.index: dict[Hashable, int] = {}
        self.adjacent: list[list[int]] = []
        self.target: list[int] = []
        self.capacity: list[int] = []

    def node(self, key: Hashable) -> int:
        if key not in self.index:
            self.index[key] = len(self.adjacent)
            self.adjacent.append([])
        return self.index[key]

    def edge(self, a: Hashable, b: Hashable, capacity: int) -> None:
        u, v = self.node(a), self.node(b)
        for source, target, c in ((u, v, capacity), (v, u, 0)):
            self.adjacent[source].append(len(self.target))
            self.target.append(target)
            self.capacity.append(c)

    def cut(self, source: Hashable, sink: Hashable) -> set[Hashable]:
        """Nodes on the sink's side of the minimum cut nearest to the sink."""
        s, t = self.node(source), self.node(sink)
        while (level := self._levels(s, t)) is not None:
            progress = [0] * len(self.adjacent)
            while self._augment(s, t, level, progress):
                pass
        side = self._reaches(t)
        return {key for key, i in self.index.items() if i in side}

    def _levels(self, s: int, t: int) -> list[int] | None:
        level = [-1] * len(self.adjacent)
        level[s] = 0
        queue = deque([s])
        while queue:
            u = queue.popleft()
            for e in self.adjacent[u]:
                if self.capacity[e] > 0 and level[self.target[e]] < 0:
                    level[self.target[e]] = level[u] + 1
                    queue.append(self.target[e])
        return level if level[t] >= 0 else None

    def _augment(self, s: int, t: int, level: list[int], progress: list[int]) -> int:
        """One augmenting path along the levels, by an explicit stack."""
        path: list[int] = []
        u = s
        while u != t:
            edges = self.adjacent[u]
            while progress[u] < len(edges):
                e = edges[progress[u]]
                if self.capacity[e] > 0 and level[self.target[e]] == level[u] + 1:
                    break
                progress[u] += 1
            else:
                if not path:
                    return 0
                u = self.target[path.pop() ^ 1]
                progress[u] += 1
                continue
            path.append(e)
            u = self.target[e]
        flow = min(self.capacity[e] for e in path)
        if flow >= INFINITE:
            raise ValueError("the cut is infinite: a needed value can be neither kept nor recomputed")
        for e in path:
            if self.capacity[e] < INFINITE:
                self.capacity[e] -= flow
            self.capacity[e ^ 1] += flow
        return flow

    def _reaches(self, t: int) -> set[int]:
        """Nodes from which the sink is reached along residual edges."""
        side = {t}
        work = [t]
        while work:
            v = work.pop()
            for e in self.adjacent[v]:
                u = self.target[e]
                if u not in side and self.capacity[e ^ 1] > 0:
                    side.add(u)
                    work.append(u)
        return side
