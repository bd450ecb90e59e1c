"""The op table: one row an op, in one place. Importing this package fills ``adcore.ir.opdef.REGISTRY``."""

from adcore.ops import compound as _compound
from adcore.ops import integer as _integer
from adcore.ops import memory as _memory
from adcore.ops import real as _real
from adcore.ops import structure as _structure

__all__: list[str] = []
del _compound, _integer, _memory, _real, _structure
