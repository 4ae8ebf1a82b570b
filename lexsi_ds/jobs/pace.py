"""How quickly something gets on, and how long it will go on, from the last seconds of it. Pure; the clock is given."""

from __future__ import annotations

from collections import deque

_WINDOW_S = 12.0
_LEAST_S = 1.0
"""A rate over less time than this would only flicker."""


class Pace:
    """The last reports of something that counts up to a total."""

    def __init__(self) -> None:
        self._marks: deque[tuple[float, float]] = deque(maxlen=200)
        self._total = 0.0

    def note(self, at: float, done: float, total: float) -> None:
        """It is at ``done`` of ``total`` now. Another total, or a step back, begins anew."""
        if total != self._total or (self._marks and done < self._marks[-1][1]):
            self._marks.clear()
        self._total = total
        if not self._marks or at > self._marks[-1][0]:
            self._marks.append((at, done))
        while len(self._marks) > 2 and at - self._marks[0][0] > _WINDOW_S:
            self._marks.popleft()

    def rate(self, now: float) -> float | None:
        """Units a second; None until that can be told."""
        if not self._marks:
            return None
        (first, before), (_, done) = self._marks[0], self._marks[-1]
        if now - first < _LEAST_S or done <= before:
            return None
        return (done - before) / (now - first)

    def left(self, now: float) -> float | None:
        """Seconds that it still needs at this rate; None until that can be told."""
        rate = self.rate(now)
        return (self._total - self._marks[-1][1]) / rate if rate else None
