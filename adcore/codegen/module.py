"""The whole extension module as LLVM text: kernels, entry points, and how Python makes a module of them.

One file serves every Python from 3.11: the slots that an interpreter knows are chosen when it loads the module (an
unknown slot is an error in older ones), NumPy's table of functions is fetched and checked when the module is
executed.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from adcore.allocation.sites import ledgers
from adcore.codegen import entry_text
from adcore.codegen.checking import Checking, checked
from adcore.codegen.debug import DebugInfo
from adcore.codegen.entry import members_of, write_member
from adcore.codegen.entry_arguments import READ
from adcore.codegen.entry_binding import BIND
from adcore.codegen.entry_call import CALL
from adcore.codegen.entry_overlap import OVERLAP
from adcore.codegen.entry_results import RESULTS
from adcore.codegen.lower import lower_function
from adcore.codegen.products import with_products
from adcore.codegen.support import BLOCKS, RUNTIME
from adcore.codegen.text import ModuleText, constant, symbol
from adcore.ir.core import Module
from adcore.ir.flow import flow_of, summarise
from adcore.ir.signature import Entry

TRIPLE = "x86_64-unknown-linux-gnu"
ABI = 1
HEADER = f'source_filename = "adcore"\ntarget triple = "{TRIPLE}"\n'
ATTRIBUTES = """
attributes #1 = { nounwind noinline uwtable }
attributes #2 = { nounwind nonlazybind willreturn memory(none) }
attributes #3 = { nounwind uwtable }
"""

EXECUTE = """
%Slot = type { i32, ptr }
%ModuleDef = type { i64, ptr, ptr, i64, ptr, ptr, ptr, i64, ptr, ptr, ptr, ptr, ptr }
; The exec slot: NumPy's table into the state, then the constants of the module.
define internal i32 @module.exec(ptr %module) #3 {
entry:
  %state = call ptr @PyModule_GetState(ptr %module)
  %numpy = call ptr @PyImport_ImportModule(ptr @py.text.numpy)
  %absent = icmp eq ptr %numpy, null
  br i1 %absent, label %fail, label %api
api:
  %capsule = call ptr @PyObject_GetAttrString(ptr %numpy, ptr @py.text.api)
  call void @Py_DecRef(ptr %numpy)
  %no.api = icmp eq ptr %capsule, null
  br i1 %no.api, label %fail, label %open
open:
  %table = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr null)
  call void @Py_DecRef(ptr %capsule)
  %no.table = icmp eq ptr %table, null
  br i1 %no.table, label %fail, label %version
version:
  %get.version = load ptr, ptr %table
  %abi = call i32 %get.version()
  %known = icmp eq i32 %abi, 33554432
  br i1 %known, label %fill, label %strange
strange:
  %import.error = load ptr, ptr @PyExc_ImportError
  %never = call ptr (ptr, ptr, ...) @PyErr_Format(ptr %import.error, ptr @py.text.numpy_abi, i32 %abi)
  ret i32 -1
fill:
  ; checking: find the counter
  store ptr %table, ptr %state
  %p.type.entry = getelementptr ptr, ptr %table, i64 2
  %type = load ptr, ptr %p.type.entry
  %p.type = getelementptr %State, ptr %state, i32 0, i32 1
  store ptr %type, ptr %p.type
  %p.from.type = getelementptr ptr, ptr %table, i64 45
  %from.type = load ptr, ptr %p.from.type
  %f64 = call ptr %from.type(i32 12)
  %p.f64 = getelementptr %State, ptr %state, i32 0, i32 2, i32 0
  store ptr %f64, ptr %p.f64
  %i64 = call ptr %from.type(i32 7)
  %p.i64 = getelementptr %State, ptr %state, i32 0, i32 2, i32 1
  store ptr %i64, ptr %p.i64
  %bool = call ptr %from.type(i32 0)
  %p.bool = getelementptr %State, ptr %state, i32 0, i32 2, i32 2
  store ptr %bool, ptr %p.bool
  %meta = call ptr @PyUnicode_FromStringAndSize(ptr @module.meta, i64 META_SIZE)
  %no.meta = icmp eq ptr %meta, null
  br i1 %no.meta, label %fail, label %constants
constants:
  %a = call i32 @PyModule_AddObjectRef(ptr %module, ptr @py.text.meta, ptr %meta)
  call void @Py_DecRef(ptr %meta)
  %b = call i32 @PyModule_AddIntConstant(ptr %module, ptr @py.text.abi, i64 ABI_NUMBER)
  %either = or i32 %a, %b
  ret i32 %either
fail:
  ret i32 -1
}

; References of the state; called also for a module whose execution failed half way.
define internal void @module.free(ptr %module) #3 {
  %state = call ptr @PyModule_GetState(ptr %module)
  %none = icmp eq ptr %state, null
  br i1 %none, label %done, label %drop
drop:
  %p.descriptors = getelementptr %State, ptr %state, i32 0, i32 2
  call void @py.drop_all(ptr %p.descriptors, i32 4)
  br label %done
done:
  ret void
}

define ptr @INIT() #3 {
  %version = load i64, ptr @Py_Version
  %is.313 = icmp uge i64 %version, 51183616
  %is.312 = icmp uge i64 %version, 51118080
  %newer = select i1 %is.313, ptr @module.slots.313, ptr @module.slots.312
  %slots = select i1 %is.312, ptr %newer, ptr @module.slots.311
  %p.slots = getelementptr %ModuleDef, ptr @module.def, i32 0, i32 9
  store ptr %slots, ptr %p.slots
  %module = call ptr @PyModuleDef_Init(ptr @module.def)
  ret ptr %module
}

@module.slots.311 = internal constant [2 x %Slot] [%Slot { i32 2, ptr @module.exec }, %Slot zeroinitializer]
; 3.12: one interpreter lock each; 3.13: no global lock needed
@module.slots.312 = internal constant [3 x %Slot] [%Slot { i32 2, ptr @module.exec },
  %Slot { i32 3, ptr inttoptr (i64 2 to ptr) }, %Slot zeroinitializer]
@module.slots.313 = internal constant [4 x %Slot] [%Slot { i32 2, ptr @module.exec },
  %Slot { i32 3, ptr inttoptr (i64 2 to ptr) }, %Slot { i32 4, ptr inttoptr (i64 1 to ptr) }, %Slot zeroinitializer]
"""

TEXTS = {
    **entry_text.TEXTS,
    "numpy": "numpy._core._multiarray_umath",
    "api": "_ARRAY_API",
    "numpy_abi": "this extension was built for NumPy 2, not for NumPy's ABI %x",
    "meta": "__adcore_meta__",
    "abi": "__adcore_abi__",
}


def kernels_text(module: Module, debug_info: bool = True, canaries: bool = False) -> tuple[ModuleText, dict[str, str]]:
    """The module's text so far and the kernels by name. A kernel depends on its own function and on what it calls."""
    text = ModuleText()
    debug = DebugInfo(text, debug_info)
    flows = {name: flow_of(f) for name, f in module.functions.items()}
    summaries = summarise(module, flows)
    books = ledgers(module, flows, summaries, on_stack=not canaries)
    called = {op.attrs["callee"] for f in module.functions.values() for op in f.body.walk() if op.name == "call"}
    kernels = {}
    for name, function in module.functions.items():
        kernels[name] = lower_function(module, function, text, debug, flows, summaries, books[name], name not in called)
    text.metadata += debug.flags()
    return text, kernels


def module_text(
    module: Module,
    entries: Sequence[Entry],
    module_name: str,
    meta: str,
    debug_info: bool = True,
    checking: Checking = Checking.NOTHING,
) -> str:
    """The extension ``module_name`` with one builtin per member of each entry."""
    text, kernels = kernels_text(module, debug_info, checking is Checking.CANARIES)
    flows = {name: flow_of(f) for name, f in module.functions.items()}
    rows = [write_member(text, m) for m in members_of(module, entries, summarise(module, flows))]
    rows.append("{ ptr, ptr, i32, ptr } zeroinitializer")
    row_type = "{ ptr, ptr, i32, ptr }"
    text.definitions.append(f"@module.methods = internal global [{len(rows)} x {row_type}] [{', '.join(rows)}]")
    _definition(text, module_name)
    encoded = meta.encode()
    text.definitions.append(constant("@module.meta", encoded))
    source = resources.files("adcore.codegen").joinpath("slowpath.py").read_bytes() + b"\0"
    text.definitions.append(constant("@py.source", source))
    for name, value in TEXTS.items():
        text.definitions.append(constant(f"@py.text.{name}", value.encode() + b"\0"))
    execute = EXECUTE.replace("META_SIZE", str(len(encoded))).replace("ABI_NUMBER", str(ABI))
    execute = execute.replace("@INIT", symbol(f"PyInit_{module_name}"))
    fixed = entry_text.TYPES + entry_text.DECLARATIONS + READ + BIND + OVERLAP + RESULTS + CALL + execute
    fixed = with_products(fixed, text)
    for line in fixed.splitlines():  # kernels declare exceptions of their own
        if line.startswith("@PyExc_"):
            text.declarations.pop(line.split(" ")[0][1:], None)
    if checking is Checking.CANARIES:
        text.declarations.pop("memset", None)
    whole = HEADER + _runtime(text) + fixed + ATTRIBUTES + "\n".join(kernels.values()) + text.render()
    return checked(whole, checking, BLOCKS)


def bare_text(module: Module) -> str:
    """Kernels and their support alone, externally visible: to show code, to find what LLVM fails on."""
    text, kernels = kernels_text(module)
    body = "\n".join(kernels.values()).replace('define internal i32 @"k.', 'define i32 @"k.')
    return HEADER + _runtime(text) + ATTRIBUTES + body + text.render()


def _runtime(text: ModuleText) -> str:
    text.declarations.pop("PyExc_MemoryError", None)
    return RUNTIME


def _definition(text: ModuleText, module_name: str) -> None:
    text.definitions.append(constant("@module.name", module_name.encode() + b"\0"))
    head = "i64 1, ptr null, ptr null, i64 0, ptr null"  # PyModuleDef_HEAD_INIT
    rest = "ptr @module.name, ptr null, i64 48, ptr @module.methods, ptr null, ptr null, ptr null, ptr @module.free"
    text.definitions.append(f"@module.def = internal global %ModuleDef {{ {head}, {rest} }}")
