"""The run time of entry points: tables, texts, declarations. What works on them stands in the ``entry_*`` modules.

It is the same in every extension; a member is described by constants that ``entry`` makes:

    %Param   { name, kind, rank, flags, dims }
             kind: 0 f64, 1 i64, 2 bool, 3 array of f64, 4 of i64, 5 of bool; flags: 1 written, 2 cotangent, 4 out=,
             8 copied and written
             dims[k]: -1 any size; n >= 0 that size; -2-w the size in word w (a dim symbol met before)
    %Result  { kind, rank, box, like, offset, out }
             box: 0 float, 1 int, 2 bool, 3 np.float64, 4 ndarray, 5 not handed out; offset: its place in ``outs``
             like: word of the data pointer of the parameter whose shape it has, or -1
             out: of a gradient the %Param that an array given as ``out=`` must fit, else null
    %Member  { text name, thunk, positional, cotangents, params, results, result count, program, program length,
               flags, out count, full name }
             program (postfix): k >= 0 result k; -1-n the tuple of the last n; -1000 None
             flags: 1 releases the GIL, 2 vjp, 4 out= is a tuple, 8 writes a parameter, 16 multiplies matrices
    %Frame   { items, owned, words, outs, boxed, stack }: borrowed arguments, converted ones, flattened kernel
             arguments, what kernels write, result objects, stack of the program
    %State   { NumPy's table, ndarray, its float64, int64, bool descriptors, convert }: of the module

The struct of an ndarray is read directly, under checks: its layout is the same in all of NumPy 2 (head 16 bytes with
the GIL). The slot numbers of NumPy's table are those of its ``__multiarray_api.h``.
"""

from __future__ import annotations

TEXTS = {
    "odd": "adcore: an argument could not be converted",
    "convert": "ssiiiOiL",
    "file": "<adcore>",
    "builtins": "__builtins__",
    "hook": "convert",
    "dgemm": "dgemm",
    "bind": "__adcore_bind__",
    "arity": "%s() takes %d positional arguments but %zd were given",
    "vjp": "%s() takes two positional arguments: the tuple of the function's arguments, then the cotangents or tangents",
    "tuple": "%s() takes the function's arguments as one tuple, then the cotangents or tangents; one argument is `(x,)`",
    "cotangents": "%s(): expected a tuple of %d cotangents or tangents",
    "outs": "%s(): out= must be a tuple of %d arrays, as the gradient is",
    "out": "out",
    "overlap": "%s() %s%s%s shares memory with %s%s%s, and one of them is written",
    "parameter": "parameter '",
    "out.for": "out= for '",
    "quote": "'",
    "nothing": "",
}

TYPES = """
%Param = type { ptr, i32, i32, i32, ptr }
%Result = type { i32, i32, i32, i32, i32, ptr }
%Member = type { ptr, ptr, i32, i32, ptr, ptr, i32, ptr, i32, i32, i32, ptr }
%Frame = type { ptr, ptr, ptr, ptr, ptr, ptr }
%State = type { ptr, ptr, [3 x ptr], ptr }
"""

DECLARATIONS = """
@PyFloat_Type = external global i8
@_Py_TrueStruct = external global i8
@_Py_FalseStruct = external global i8
@_Py_NoneStruct = external global i8
@PyExc_TypeError = external global ptr
@PyExc_ValueError = external global ptr
@PyExc_SystemError = external global ptr
@PyExc_ImportError = external global ptr
@Py_Version = external global i64
declare ptr @PyModule_GetState(ptr) nonlazybind
declare i32 @PyType_IsSubtype(ptr, ptr) nonlazybind
declare i64 @PyType_GetFlags(ptr) nonlazybind
declare double @PyFloat_AsDouble(ptr) nonlazybind
declare i64 @PyLong_AsLongLong(ptr) nonlazybind
declare ptr @PyErr_Occurred() nonlazybind
declare void @PyErr_Clear() nonlazybind
declare void @PyErr_SetString(ptr, ptr) nonlazybind
declare ptr @PyErr_Format(ptr, ptr, ...) nonlazybind
declare void @Py_IncRef(ptr) nonlazybind
declare void @Py_DecRef(ptr) nonlazybind
declare ptr @PyFloat_FromDouble(double) nonlazybind
declare ptr @PyLong_FromLongLong(i64) nonlazybind
declare ptr @PyBool_FromLong(i64) nonlazybind
declare ptr @PyTuple_New(i64) nonlazybind
declare i64 @PyTuple_Size(ptr) nonlazybind
declare ptr @PyTuple_GetItem(ptr, i64) nonlazybind
declare i32 @PyTuple_SetItem(ptr, i64, ptr) nonlazybind
declare ptr @PySequence_Tuple(ptr) nonlazybind
declare ptr @PyDict_New() nonlazybind
declare i32 @PyDict_SetItem(ptr, ptr, ptr) nonlazybind
declare i32 @PyDict_SetItemString(ptr, ptr, ptr) nonlazybind
declare ptr @PyDict_GetItemString(ptr, ptr) nonlazybind
declare ptr @PyObject_GetAttrString(ptr, ptr) nonlazybind
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...) nonlazybind
declare ptr @PyObject_CallFunction(ptr, ptr, ...) nonlazybind
declare ptr @PyUnicode_FromString(ptr) nonlazybind
declare ptr @PyUnicode_FromStringAndSize(ptr, i64) nonlazybind
declare i32 @PyUnicode_CompareWithASCIIString(ptr, ptr) nonlazybind
declare ptr @PyImport_ImportModule(ptr) nonlazybind
declare ptr @PyCapsule_GetPointer(ptr, ptr) nonlazybind
declare ptr @Py_CompileString(ptr, ptr, i32) nonlazybind
declare ptr @PyEval_EvalCode(ptr, ptr, ptr) nonlazybind
declare ptr @PyEval_GetBuiltins() nonlazybind
declare i32 @PyModule_AddObjectRef(ptr, ptr, ptr) nonlazybind
declare i32 @PyModule_AddIntConstant(ptr, ptr, i64) nonlazybind
declare ptr @PyModuleDef_Init(ptr) nonlazybind
"""
