"""adcore: annotated numerical Python functions and their derivatives, compiled ahead of time into ordinary wheels.

Importing it costs NumPy and nothing else: the engine stays where it is until something is built.
"""

from __future__ import annotations

from adcore.api import autodiff
from adcore.runtime import NotCompiledError

__all__ = ["NotCompiledError", "autodiff"]
__version__ = "0.1.0"
