"""The run time of entry points in LLVM text: arguments to words, the call, results to objects. Table-driven, the same in every extension.

Tables (constants made by ``entry``), numbers in bytes of 8:

    %Param   { name, kind, rank, flags, dims }    kind: 0 f64, 1 i64, 2 bool, 3 array of f64, 4 of i64, 5 of bool; flags: 1 written, 2 cotangent
             dims[k]: -1 any size; n >= 0 that size; -2-w the size in word w (a dim symbol met before)
    %Result  { kind, rank, box, like, offset, out }    out: the %Param that an array given as ``out=`` must fit, or null; box: 0 float, 1 int, 2 bool, 3 np.float64, 4 ndarray, 5 not handed out; like: word of the data pointer of the
             parameter whose shape it has, or -1; offset: its place in ``outs``
    %Member  { text name, thunk, positional, cotangents, params, results, result count, program, program length, flags, out count, bind name }
             program (postfix): k >= 0 result k; -1-n the tuple of the last n; -1000 None; flags: 1 releases the GIL, 2 vjp, 4 out= is a tuple, 8 writes a parameter

A call owns a %Frame: items (borrowed arguments), owned (converted ones), words (flattened kernel arguments), outs (what kernels write), boxed
(result objects), stack (of the program). All objects are given back on one path, errors included.
The struct of an ndarray is read directly, under checks: its layout is unchanged from NumPy 1 to 2 (head 16 bytes with the GIL).
"""

from __future__ import annotations

TEXTS = {
    "odd": "adcore: an argument could not be converted",
    "convert": "ssiiiOiL",
    "file": "<adcore>",
    "builtins": "__builtins__",
    "hook": "convert",
    "bind": "__adcore_bind__",
    "arity": "%s() takes %d positional arguments but %zd were given",
    "vjp": "%s() takes two positional arguments: the tuple of arguments and the cotangents",
    "cotangents": "%s(): expected a tuple of %d cotangents",
    "outs": "%s(): out= must be a tuple of %d arrays, as the gradient is",
    "out": "out",
    "overlap": "%s() parameter '%s' shares memory with another argument",
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
declare ptr @PyEval_SaveThread() nonlazybind
declare void @PyEval_RestoreThread(ptr) nonlazybind
declare i32 @PyModule_AddObjectRef(ptr, ptr, ptr) nonlazybind
declare i32 @PyModule_AddIntConstant(ptr, ptr, i64) nonlazybind
declare ptr @PyModuleDef_Init(ptr) nonlazybind
"""

ARGUMENTS = """
; A number for an f64 parameter: a float (np.float64 is one) at once, the rest through `convert`. 0 when done.
define internal i32 @py.read_f64(ptr %object, ptr %word) #3 {
  %p.type = getelementptr i8, ptr %object, i64 8
  %type = load ptr, ptr %p.type
  %exact = icmp eq ptr %type, @PyFloat_Type
  br i1 %exact, label %read, label %sub
sub:
  %is = call i32 @PyType_IsSubtype(ptr %type, ptr @PyFloat_Type)
  %no = icmp eq i32 %is, 0
  br i1 %no, label %slow, label %read
read:
  %x = call double @PyFloat_AsDouble(ptr %object)
  store double %x, ptr %word
  ret i32 0
slow:
  ret i32 1
}

; An int (bool is one) that fits; anything else, and what leaves int64, is for `convert` to name.
define internal i32 @py.read_i64(ptr %object, ptr %word) #3 {
  %p.type = getelementptr i8, ptr %object, i64 8
  %type = load ptr, ptr %p.type
  %flags = call i64 @PyType_GetFlags(ptr %type)
  %long = and i64 %flags, 16777216
  %no = icmp eq i64 %long, 0
  br i1 %no, label %slow, label %read
read:
  %n = call i64 @PyLong_AsLongLong(ptr %object)
  store i64 %n, ptr %word
  %suspect = icmp eq i64 %n, -1
  br i1 %suspect, label %ask, label %done
ask:
  %error = call ptr @PyErr_Occurred()
  %fine = icmp eq ptr %error, null
  br i1 %fine, label %done, label %clear
clear:
  call void @PyErr_Clear()
  br label %slow
done:
  ret i32 0
slow:
  ret i32 1
}

define internal i32 @py.read_bool(ptr %object, ptr %word) #3 {
  %true = icmp eq ptr %object, @_Py_TrueStruct
  %false = icmp eq ptr %object, @_Py_FalseStruct
  %value = zext i1 %true to i64
  store i64 %value, ptr %word
  %either = or i1 %true, %false
  %status = select i1 %either, i32 0, i32 1
  ret i32 %status
}

; An ndarray that is as the kernel wants it: exact type, dtype, rank, contiguous, aligned, writeable if written.
; Words: data, dims, byte strides. A size that the annotation fixes is checked here.
define internal i32 @py.read_array(ptr %state, ptr %param, ptr %object, ptr %words, ptr %word) #3 {
entry:
  %p.type = getelementptr i8, ptr %object, i64 8
  %type = load ptr, ptr %p.type
  %p.want = getelementptr %State, ptr %state, i32 0, i32 1
  %want = load ptr, ptr %p.want
  %array = icmp eq ptr %type, %want
  br i1 %array, label %look, label %slow
look:
  %p.kind = getelementptr %Param, ptr %param, i32 0, i32 1
  %kind = load i32, ptr %p.kind
  %which = sub i32 %kind, 3
  %p.descr.want = getelementptr %State, ptr %state, i32 0, i32 2, i32 %which
  %descr.want = load ptr, ptr %p.descr.want
  %p.descr = getelementptr i8, ptr %object, i64 56
  %descr = load ptr, ptr %p.descr
  %same.descr = icmp eq ptr %descr, %descr.want
  %p.rank = getelementptr %Param, ptr %param, i32 0, i32 2
  %rank = load i32, ptr %p.rank
  %p.nd = getelementptr i8, ptr %object, i64 24
  %nd = load i32, ptr %p.nd
  %same.rank = icmp eq i32 %nd, %rank
  %p.pflags = getelementptr %Param, ptr %param, i32 0, i32 3
  %pflags = load i32, ptr %p.pflags
  %written = and i32 %pflags, 1
  %writeable = shl i32 %written, 10
  %need = or i32 %writeable, 257
  %p.flags = getelementptr i8, ptr %object, i64 64
  %flags = load i32, ptr %p.flags
  %got = and i32 %flags, %need
  %fit = icmp eq i32 %got, %need
  %a = and i1 %same.descr, %same.rank
  %b = and i1 %a, %fit
  br i1 %b, label %take, label %slow
take:
  %p.data = getelementptr i8, ptr %object, i64 16
  %data = load ptr, ptr %p.data
  store ptr %data, ptr %word
  %p.dims = getelementptr i8, ptr %object, i64 32
  %dims = load ptr, ptr %p.dims
  %p.strides = getelementptr i8, ptr %object, i64 40
  %strides = load ptr, ptr %p.strides
  %p.spec = getelementptr %Param, ptr %param, i32 0, i32 4
  %spec = load ptr, ptr %p.spec
  %n = zext i32 %rank to i64
  br label %loop
loop:
  %k = phi i64 [ 0, %take ], [ %k.next, %next ]
  %more = icmp ult i64 %k, %n
  br i1 %more, label %axis, label %done
axis:
  %p.dim = getelementptr i64, ptr %dims, i64 %k
  %dim = load i64, ptr %p.dim
  %p.stride = getelementptr i64, ptr %strides, i64 %k
  %stride = load i64, ptr %p.stride
  %w.dim = add i64 %k, 1
  %p.wdim = getelementptr i64, ptr %word, i64 %w.dim
  store i64 %dim, ptr %p.wdim
  %w.stride = add i64 %w.dim, %n
  %p.wstride = getelementptr i64, ptr %word, i64 %w.stride
  store i64 %stride, ptr %p.wstride
  %p.size = getelementptr i64, ptr %spec, i64 %k
  %size = load i64, ptr %p.size
  %fixed = icmp ne i64 %size, -1
  br i1 %fixed, label %sized, label %next
sized:
  %symbol = icmp slt i64 %size, 0
  br i1 %symbol, label %met, label %compare
met:
  %at = sub i64 -2, %size
  %p.met = getelementptr i64, ptr %words, i64 %at
  %met.size = load i64, ptr %p.met
  br label %compare
compare:
  %expected = phi i64 [ %size, %sized ], [ %met.size, %met ]
  %equal = icmp eq i64 %expected, %dim
  br i1 %equal, label %next, label %wrong
wrong:
  store i64 %expected, ptr %word
  %axis32 = trunc i64 %k to i32
  %code = add i32 %axis32, 2
  ret i32 %code
next:
  %k.next = add i64 %k, 1
  br label %loop
done:
  ret i32 0
slow:
  ret i32 1
}

; One argument by its kind. 0 done, 1 for `convert`, 2 + axis: that size is wrong (the expected one is in the word).
define internal i32 @py.read_fast(ptr %state, ptr %param, ptr %object, ptr %words, ptr %word) #3 {
  %p.kind = getelementptr %Param, ptr %param, i32 0, i32 1
  %kind = load i32, ptr %p.kind
  switch i32 %kind, label %array [ i32 0, label %float i32 1, label %int i32 2, label %bool ]
float:
  %f = call i32 @py.read_f64(ptr %object, ptr %word)
  ret i32 %f
int:
  %i = call i32 @py.read_i64(ptr %object, ptr %word)
  ret i32 %i
bool:
  %b = call i32 @py.read_bool(ptr %object, ptr %word)
  ret i32 %b
array:
  %a = call i32 @py.read_array(ptr %state, ptr %param, ptr %object, ptr %words, ptr %word)
  ret i32 %a
}

; One argument: fast, or converted by the Python source of the extension, which also words the errors. Returns 0, or 1 with an exception set.
define internal i32 @py.read(ptr %state, ptr %member, ptr %param, ptr %object, ptr %words, ptr %word, ptr %owned) #3 {
entry:
  %status = call i32 @py.read_fast(ptr %state, ptr %param, ptr %object, ptr %words, ptr %word)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %done, label %slow
slow:
  %expected.0 = load i64, ptr %word
  %new = call ptr @py.convert(ptr %state, ptr %member, ptr %param, ptr %object, i32 %status, i64 %expected.0)
  %bad = icmp eq ptr %new, null
  br i1 %bad, label %fail, label %again
again:
  store ptr %new, ptr %owned
  %second = call i32 @py.read_fast(ptr %state, ptr %param, ptr %new, ptr %words, ptr %word)
  %fine = icmp eq i32 %second, 0
  br i1 %fine, label %done, label %size
size:
  %expected.1 = load i64, ptr %word
  %never = call ptr @py.convert(ptr %state, ptr %member, ptr %param, ptr %new, i32 %second, i64 %expected.1)
  %raised = icmp eq ptr %never, null
  br i1 %raised, label %fail, label %odd
odd:
  call void @Py_DecRef(ptr %never)
  %system = load ptr, ptr @PyExc_SystemError
  call void @PyErr_SetString(ptr %system, ptr @py.text.odd)
  br label %fail
done:
  ret i32 0
fail:
  ret i32 1
}

; convert(function, parameter, kind, rank, flags, object, status, expected) of the extension's Python source.
define internal ptr @py.convert(ptr %state, ptr %member, ptr %param, ptr %object, i32 %status, i64 %expected) #3 {
  %hook = call ptr @py.hook(ptr %state)
  %none = icmp eq ptr %hook, null
  br i1 %none, label %fail, label %go
go:
  %function = load ptr, ptr %member
  %name = load ptr, ptr %param
  %p.kind = getelementptr %Param, ptr %param, i32 0, i32 1
  %kind = load i32, ptr %p.kind
  %p.rank = getelementptr %Param, ptr %param, i32 0, i32 2
  %rank = load i32, ptr %p.rank
  %p.flags = getelementptr %Param, ptr %param, i32 0, i32 3
  %flags = load i32, ptr %p.flags
  %new = call ptr (ptr, ptr, ...) @PyObject_CallFunction(ptr %hook, ptr @py.text.convert, ptr %function, ptr %name, i32 %kind, i32 %rank, i32 %flags, ptr %object, i32 %status, i64 %expected)
  ret ptr %new
fail:
  ret ptr null
}

; The Python side, compiled on first use: a borrowed reference, or null with an exception set.
define internal ptr @py.hook(ptr %state) #3 {
  %p.hook = getelementptr %State, ptr %state, i32 0, i32 3
  %known = load ptr, ptr %p.hook
  %have = icmp ne ptr %known, null
  br i1 %have, label %ready, label %compile
ready:
  ret ptr %known
compile:
  %code = call ptr @Py_CompileString(ptr @py.source, ptr @py.text.file, i32 257)
  %bad.code = icmp eq ptr %code, null
  br i1 %bad.code, label %fail, label %space
space:
  %names = call ptr @PyDict_New()
  %builtins = call ptr @PyEval_GetBuiltins()
  %ignored = call i32 @PyDict_SetItemString(ptr %names, ptr @py.text.builtins, ptr %builtins)
  %result = call ptr @PyEval_EvalCode(ptr %code, ptr %names, ptr %names)
  call void @Py_DecRef(ptr %code)
  %bad.run = icmp eq ptr %result, null
  br i1 %bad.run, label %drop, label %find
find:
  call void @Py_DecRef(ptr %result)
  %hook = call ptr @PyDict_GetItemString(ptr %names, ptr @py.text.hook)
  call void @Py_IncRef(ptr %hook)
  store ptr %hook, ptr %p.hook
  call void @Py_DecRef(ptr %names)
  ret ptr %hook
drop:
  call void @Py_DecRef(ptr %names)
  ret ptr null
fail:
  ret ptr null
}
"""

BINDING = """
; The complete positional tuple for a call with keywords or defaults: bind(name, args, kwargs) of the module. New reference or null.
define internal ptr @py.bind(ptr %self, ptr %member, ptr %args, i64 %nargs, ptr %kwnames) #3 {
entry:
  %bind = call ptr @PyObject_GetAttrString(ptr %self, ptr @py.text.bind)
  %absent = icmp eq ptr %bind, null
  br i1 %absent, label %arity, label %pack
arity:
  call void @PyErr_Clear()
  %type = load ptr, ptr @PyExc_TypeError
  %function = load ptr, ptr %member
  %p.count = getelementptr %Member, ptr %member, i32 0, i32 2
  %count = load i32, ptr %p.count
  %never = call ptr (ptr, ptr, ...) @PyErr_Format(ptr %type, ptr @py.text.arity, ptr %function, i32 %count, i64 %nargs)
  ret ptr null
pack:
  %tuple = call ptr @PyTuple_New(i64 %nargs)
  %kwargs = call ptr @PyDict_New()
  br label %fill
fill:
  %k = phi i64 [ 0, %pack ], [ %k.next, %one ]
  %more = icmp ult i64 %k, %nargs
  br i1 %more, label %one, label %words
one:
  %p.item = getelementptr ptr, ptr %args, i64 %k
  %item = load ptr, ptr %p.item
  call void @Py_IncRef(ptr %item)
  %set = call i32 @PyTuple_SetItem(ptr %tuple, i64 %k, ptr %item)
  %k.next = add i64 %k, 1
  br label %fill
words:
  %has = icmp ne ptr %kwnames, null
  br i1 %has, label %size, label %call
size:
  %n = call i64 @PyTuple_Size(ptr %kwnames)
  br label %kw
kw:
  %j = phi i64 [ 0, %size ], [ %j.next, %kw.next ]
  %kw.more = icmp ult i64 %j, %n
  br i1 %kw.more, label %kw.one, label %call
kw.one:
  %key = call ptr @PyTuple_GetItem(ptr %kwnames, i64 %j)
  %at = add i64 %nargs, %j
  %p.value = getelementptr ptr, ptr %args, i64 %at
  %value = load ptr, ptr %p.value
  %is.out = call i1 @py.is_out(ptr %member, ptr %key)
  br i1 %is.out, label %kw.next, label %kw.set
kw.set:
  %put = call i32 @PyDict_SetItem(ptr %kwargs, ptr %key, ptr %value)
  br label %kw.next
kw.next:
  %j.next = add i64 %j, 1
  br label %kw
call:
  %p.name = getelementptr %Member, ptr %member, i32 0, i32 11
  %name.text = load ptr, ptr %p.name
  %name = call ptr @PyUnicode_FromString(ptr %name.text)
  %bound = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %bind, ptr %name, ptr %tuple, ptr %kwargs, ptr null)
  call void @Py_DecRef(ptr %name)
  call void @Py_DecRef(ptr %tuple)
  call void @Py_DecRef(ptr %kwargs)
  call void @Py_DecRef(ptr %bind)
  ret ptr %bound
}

; `out=` of a member that takes it.
define internal i1 @py.is_out(ptr %member, ptr %key) #3 {
  %p.outs = getelementptr %Member, ptr %member, i32 0, i32 10
  %outs = load i32, ptr %p.outs
  %takes = icmp ne i32 %outs, 0
  br i1 %takes, label %compare, label %no
compare:
  %order = call i32 @PyUnicode_CompareWithASCIIString(ptr %key, ptr @py.text.out)
  %same = icmp eq i32 %order, 0
  ret i1 %same
no:
  ret i1 false
}

; The value of `out=` among the keywords, or null.
define internal ptr @py.find_out(ptr %member, ptr %args, i64 %nargs, ptr %kwnames) #3 {
entry:
  %n = call i64 @PyTuple_Size(ptr %kwnames)
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next ]
  %more = icmp ult i64 %k, %n
  br i1 %more, label %one, label %none
one:
  %key = call ptr @PyTuple_GetItem(ptr %kwnames, i64 %k)
  %is = call i1 @py.is_out(ptr %member, ptr %key)
  br i1 %is, label %found, label %next
next:
  %k.next = add i64 %k, 1
  br label %loop
found:
  %at = add i64 %nargs, %k
  %p.value = getelementptr ptr, ptr %args, i64 %at
  %value = load ptr, ptr %p.value
  ret ptr %value
none:
  ret ptr null
}

; Copy the items of a tuple of known length; 1 with TypeError if it has another.
define internal i32 @py.unpack(ptr %tuple, i32 %count, ptr %items) #3 {
entry:
  %n = call i64 @PyTuple_Size(ptr %tuple)
  %want = zext i32 %count to i64
  %same = icmp eq i64 %n, %want
  br i1 %same, label %loop, label %wrong
loop:
  %k = phi i64 [ 0, %entry ], [ %k.next, %one ]
  %more = icmp ult i64 %k, %want
  br i1 %more, label %one, label %done
one:
  %item = call ptr @PyTuple_GetItem(ptr %tuple, i64 %k)
  %p.item = getelementptr ptr, ptr %items, i64 %k
  store ptr %item, ptr %p.item
  %k.next = add i64 %k, 1
  br label %loop
done:
  ret i32 0
wrong:
  ret i32 1
}
"""

CALL = """
; Where the arguments are: the caller's own vector, or the frame's items. Null with an exception set.
; What must live until the end goes to %hold (two references); the value of out= to %out.
define internal ptr @py.gather(ptr %self, ptr %args, i64 %nargs, ptr %kwnames, ptr %member, ptr %items, ptr %hold, ptr %out) #3 {
entry:
  %p.count = getelementptr %Member, ptr %member, i32 0, i32 2
  %count = load i32, ptr %p.count
  %p.flags = getelementptr %Member, ptr %member, i32 0, i32 9
  %flags = load i32, ptr %p.flags
  %vjp = and i32 %flags, 2
  %is.vjp = icmp ne i32 %vjp, 0
  br i1 %is.vjp, label %pair, label %plain
plain:
  %want = zext i32 %count to i64
  %exact = icmp eq i64 %nargs, %want
  %no.words = icmp eq ptr %kwnames, null
  br i1 %no.words, label %positional, label %keywords
positional:
  br i1 %exact, label %direct, label %bind
direct:
  ret ptr %args
keywords:
  %found = call ptr @py.find_out(ptr %member, ptr %args, i64 %nargs, ptr %kwnames)
  store ptr %found, ptr %out
  %words = call i64 @PyTuple_Size(ptr %kwnames)
  %has.out = icmp ne ptr %found, null
  %one = icmp eq i64 %words, 1
  %only.out = and i1 %has.out, %one
  %direct.2 = and i1 %only.out, %exact
  br i1 %direct.2, label %direct, label %bind
bind:
  %bound = call ptr @py.bind(ptr %self, ptr %member, ptr %args, i64 %nargs, ptr %kwnames)
  br label %take
pair:
  %two = icmp eq i64 %nargs, 2
  %no.words.2 = icmp eq ptr %kwnames, null
  %well = and i1 %two, %no.words.2
  br i1 %well, label %open, label %pair.wrong
pair.wrong:
  %type.2 = load ptr, ptr @PyExc_TypeError
  %function.2 = load ptr, ptr %member
  %never.2 = call ptr (ptr, ptr, ...) @PyErr_Format(ptr %type.2, ptr @py.text.vjp, ptr %function.2)
  ret ptr null
open:
  %first = load ptr, ptr %args
  %tuple = call ptr @PySequence_Tuple(ptr %first)
  %no.tuple = icmp eq ptr %tuple, null
  br i1 %no.tuple, label %fail, label %sized
sized:
  %n = call i64 @PyTuple_Size(ptr %tuple)
  %want.2 = zext i32 %count to i64
  %exact.2 = icmp eq i64 %n, %want.2
  br i1 %exact.2, label %take, label %rebind
rebind:
  %fill = call i32 @py.tuple_items(ptr %tuple, i64 %n, ptr %self, ptr %member, ptr %hold)
  %rebound = load ptr, ptr %hold
  store ptr null, ptr %hold
  call void @Py_DecRef(ptr %tuple)
  br label %take
take:
  %all = phi ptr [ %bound, %bind ], [ %tuple, %sized ], [ %rebound, %rebind ]
  store ptr %all, ptr %hold
  %no.all = icmp eq ptr %all, null
  br i1 %no.all, label %fail, label %unpack
unpack:
  %status = call i32 @py.unpack(ptr %all, i32 %count, ptr %items)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %cotangents, label %wrong
wrong:
  %type = load ptr, ptr @PyExc_TypeError
  %function = load ptr, ptr %member
  %got = call i64 @PyTuple_Size(ptr %all)
  %never = call ptr (ptr, ptr, ...) @PyErr_Format(ptr %type, ptr @py.text.arity, ptr %function, i32 %count, i64 %got)
  ret ptr null
cotangents:
  %p.cts = getelementptr %Member, ptr %member, i32 0, i32 3
  %cts = load i32, ptr %p.cts
  %none = icmp eq i32 %cts, 0
  br i1 %none, label %done, label %second
second:
  %p.ct = getelementptr ptr, ptr %args, i64 1
  %ct = load ptr, ptr %p.ct
  %after = zext i32 %count to i64
  %p.after = getelementptr ptr, ptr %items, i64 %after
  %bare = icmp eq i32 %cts, 1
  br i1 %bare, label %single, label %several
single:
  store ptr %ct, ptr %p.after
  br label %done
several:
  %ct.tuple = call ptr @PySequence_Tuple(ptr %ct)
  %p.hold = getelementptr ptr, ptr %hold, i64 1
  store ptr %ct.tuple, ptr %p.hold
  %no.ct = icmp eq ptr %ct.tuple, null
  br i1 %no.ct, label %ct.clear, label %ct.unpack
ct.clear:
  call void @PyErr_Clear()
  br label %ct.wrong
ct.unpack:
  %ct.status = call i32 @py.unpack(ptr %ct.tuple, i32 %cts, ptr %p.after)
  %ct.good = icmp eq i32 %ct.status, 0
  br i1 %ct.good, label %done, label %ct.wrong
ct.wrong:
  %type.3 = load ptr, ptr @PyExc_TypeError
  %function.3 = load ptr, ptr %member
  %never.3 = call ptr (ptr, ptr, ...) @PyErr_Format(ptr %type.3, ptr @py.text.cotangents, ptr %function.3, i32 %cts)
  ret ptr null
done:
  ret ptr %items
fail:
  ret ptr null
}

; The tuple of arguments of a vjp has too few or too many items: bind them as a call would be. The result is left in %hold.
define internal i32 @py.tuple_items(ptr %tuple, i64 %n, ptr %self, ptr %member, ptr %hold) #3 {
  %items = alloca ptr, i64 %n
  %n32 = trunc i64 %n to i32
  %ignored = call i32 @py.unpack(ptr %tuple, i32 %n32, ptr %items)
  %bound = call ptr @py.bind(ptr %self, ptr %member, ptr %items, i64 %n, ptr null)
  store ptr %bound, ptr %hold
  ret i32 0
}

; Read all arguments into words. 1 with an exception set.
define internal i32 @py.read_all(ptr %state, ptr %member, ptr %items, ptr %words, ptr %owned) #3 {
entry:
  %p.count = getelementptr %Member, ptr %member, i32 0, i32 2
  %count = load i32, ptr %p.count
  %p.cts = getelementptr %Member, ptr %member, i32 0, i32 3
  %cts = load i32, ptr %p.cts
  %all = add i32 %count, %cts
  %n = zext i32 %all to i64
  %p.params = getelementptr %Member, ptr %member, i32 0, i32 4
  %params = load ptr, ptr %p.params
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next ]
  %word = phi ptr [ %words, %entry ], [ %word.next, %next ]
  %more = icmp ult i64 %k, %n
  br i1 %more, label %one, label %done
one:
  %param = getelementptr %Param, ptr %params, i64 %k
  %p.item = getelementptr ptr, ptr %items, i64 %k
  %item = load ptr, ptr %p.item
  %p.owned = getelementptr ptr, ptr %owned, i64 %k
  %status = call i32 @py.read(ptr %state, ptr %member, ptr %param, ptr %item, ptr %words, ptr %word, ptr %p.owned)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %next, label %fail
next:
  %size = call i64 @py.word_count(ptr %param)
  %word.next = getelementptr i64, ptr %word, i64 %size
  %k.next = add i64 %k, 1
  br label %loop
done:
  %p.flags = getelementptr %Member, ptr %member, i32 0, i32 9
  %flags = load i32, ptr %p.flags
  %writes = and i32 %flags, 8
  %pure = icmp eq i32 %writes, 0
  br i1 %pure, label %ok, label %separate
separate:
  %apart = call i32 @py.separate(ptr %member, ptr %words)
  ret i32 %apart
ok:
  ret i32 0
fail:
  ret i32 1
}

define internal i64 @py.word_count(ptr %param) #3 {
  %p.kind = getelementptr %Param, ptr %param, i32 0, i32 1
  %kind = load i32, ptr %p.kind
  %p.rank = getelementptr %Param, ptr %param, i32 0, i32 2
  %rank = load i32, ptr %p.rank
  %twice = shl i32 %rank, 1
  %array = icmp uge i32 %kind, 3
  %extra = select i1 %array, i32 %twice, i32 0
  %size = add i32 %extra, 1
  %wide = zext i32 %size to i64
  ret i64 %wide
}

; Bytes of the contiguous array whose words stand at %word.
define internal i64 @py.extent(ptr %param, ptr %word) #3 {
entry:
  %p.kind = getelementptr %Param, ptr %param, i32 0, i32 1
  %kind = load i32, ptr %p.kind
  %bool = icmp eq i32 %kind, 5
  %item = select i1 %bool, i64 1, i64 8
  %p.rank = getelementptr %Param, ptr %param, i32 0, i32 2
  %rank = load i32, ptr %p.rank
  %n = zext i32 %rank to i64
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %k.next, %one ]
  %bytes = phi i64 [ %item, %entry ], [ %bytes.next, %one ]
  %more = icmp ult i64 %k, %n
  br i1 %more, label %one, label %done
one:
  %k.next = add i64 %k, 1
  %p.dim = getelementptr i64, ptr %word, i64 %k.next
  %dim = load i64, ptr %p.dim
  %bytes.next = mul i64 %bytes, %dim
  br label %loop
done:
  ret i64 %bytes
}

; Whether an argument other than that at %self shares memory with the array of %mine at %self.
define internal i1 @py.shared(ptr %member, ptr %words, ptr %mine, ptr %self) #3 {
entry:
  %p.count = getelementptr %Member, ptr %member, i32 0, i32 2
  %count = load i32, ptr %p.count
  %p.cts = getelementptr %Member, ptr %member, i32 0, i32 3
  %cts = load i32, ptr %p.cts
  %all = add i32 %count, %cts
  %n = zext i32 %all to i64
  %p.params = getelementptr %Member, ptr %member, i32 0, i32 4
  %params = load ptr, ptr %p.params
  %lo = load i64, ptr %self
  %bytes = call i64 @py.extent(ptr %mine, ptr %self)
  %hi = add i64 %lo, %bytes
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next ]
  %word = phi ptr [ %words, %entry ], [ %word.next, %next ]
  %more = icmp ult i64 %k, %n
  br i1 %more, label %one, label %no
one:
  %param = getelementptr %Param, ptr %params, i64 %k
  %p.kind = getelementptr %Param, ptr %param, i32 0, i32 1
  %kind = load i32, ptr %p.kind
  %array = icmp uge i32 %kind, 3
  %other = icmp ne ptr %word, %self
  %look = and i1 %array, %other
  br i1 %look, label %compare, label %next
compare:
  %a = load i64, ptr %word
  %size = call i64 @py.extent(ptr %param, ptr %word)
  %z = add i64 %a, %size
  %left = icmp ult i64 %a, %hi
  %right = icmp ult i64 %lo, %z
  %both = and i1 %left, %right
  %some = icmp ne i64 %size, 0
  %mine.some = icmp ne i64 %bytes, 0
  %both.some = and i1 %some, %mine.some
  %overlap = and i1 %both, %both.some
  br i1 %overlap, label %yes, label %next
next:
  %step = call i64 @py.word_count(ptr %param)
  %word.next = getelementptr i64, ptr %word, i64 %step
  %k.next = add i64 %k, 1
  br label %loop
yes:
  ret i1 true
no:
  ret i1 false
}

; Written parameters share memory with no other argument. 1 with ValueError.
define internal i32 @py.separate(ptr %member, ptr %words) #3 {
entry:
  %p.count = getelementptr %Member, ptr %member, i32 0, i32 2
  %count = load i32, ptr %p.count
  %n = zext i32 %count to i64
  %p.params = getelementptr %Member, ptr %member, i32 0, i32 4
  %params = load ptr, ptr %p.params
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next ]
  %word = phi ptr [ %words, %entry ], [ %word.next, %next ]
  %more = icmp ult i64 %k, %n
  br i1 %more, label %one, label %ok
one:
  %param = getelementptr %Param, ptr %params, i64 %k
  %p.flags = getelementptr %Param, ptr %param, i32 0, i32 3
  %flags = load i32, ptr %p.flags
  %written = and i32 %flags, 1
  %is = icmp ne i32 %written, 0
  br i1 %is, label %compare, label %next
compare:
  %shared = call i1 @py.shared(ptr %member, ptr %words, ptr %param, ptr %word)
  br i1 %shared, label %fail, label %next
next:
  %step = call i64 @py.word_count(ptr %param)
  %word.next = getelementptr i64, ptr %word, i64 %step
  %k.next = add i64 %k, 1
  br label %loop
ok:
  ret i32 0
fail:
  call void @py.raise_overlap(ptr %member, ptr %param)
  ret i32 1
}

define internal void @py.raise_overlap(ptr %member, ptr %param) #3 {
  %type = load ptr, ptr @PyExc_ValueError
  %function = load ptr, ptr %member
  %name = load ptr, ptr %param
  %never = call ptr (ptr, ptr, ...) @PyErr_Format(ptr %type, ptr @py.text.overlap, ptr %function, ptr %name)
  ret void
}

; Memory for results whose shape is known before the call: the arrays of out=, else fresh ones. 1 with an exception set.
define internal i32 @py.prepare(ptr %state, ptr %member, ptr %words, ptr %outs, ptr %boxed, ptr %out) #3 {
entry:
  %p.n = getelementptr %Member, ptr %member, i32 0, i32 6
  %n32 = load i32, ptr %p.n
  %n = zext i32 %n32 to i64
  %p.results = getelementptr %Member, ptr %member, i32 0, i32 5
  %results = load ptr, ptr %p.results
  %owned = alloca ptr
  %p.flags = getelementptr %Member, ptr %member, i32 0, i32 9
  %flags = load i32, ptr %p.flags
  %wrapped = and i32 %flags, 4
  %is.tuple = icmp ne i32 %wrapped, 0
  %given = icmp ne ptr %out, null
  %check = and i1 %is.tuple, %given
  br i1 %check, label %shape, label %loop
shape:
  %p.count = getelementptr %Member, ptr %member, i32 0, i32 10
  %count = load i32, ptr %p.count
  %p.otype = getelementptr i8, ptr %out, i64 8
  %otype = load ptr, ptr %p.otype
  %oflags = call i64 @PyType_GetFlags(ptr %otype)
  %tuple = and i64 %oflags, 67108864
  %no.tuple = icmp eq i64 %tuple, 0
  br i1 %no.tuple, label %bad.outs, label %length
length:
  %have = call i64 @PyTuple_Size(ptr %out)
  %want = zext i32 %count to i64
  %fits = icmp eq i64 %have, %want
  br i1 %fits, label %loop, label %bad.outs
bad.outs:
  %type = load ptr, ptr @PyExc_TypeError
  %function = load ptr, ptr %member
  %never = call ptr (ptr, ptr, ...) @PyErr_Format(ptr %type, ptr @py.text.outs, ptr %function, i32 %count)
  ret i32 1
loop:
  %k = phi i64 [ 0, %entry ], [ 0, %length ], [ %k.next, %next ]
  %item = phi i64 [ 0, %entry ], [ 0, %length ], [ %item.next, %next ]
  %more = icmp ult i64 %k, %n
  br i1 %more, label %one, label %ok
one:
  %result = getelementptr %Result, ptr %results, i64 %k
  %p.like = getelementptr %Result, ptr %result, i32 0, i32 3
  %like = load i32, ptr %p.like
  %p.offset = getelementptr %Result, ptr %result, i32 0, i32 4
  %offset = load i32, ptr %p.offset
  %place = getelementptr i64, ptr %outs, i32 %offset
  %p.boxed = getelementptr ptr, ptr %boxed, i64 %k
  %shaped = icmp sge i32 %like, 0
  br i1 %shaped, label %which, label %next
which:
  br i1 %given, label %use, label %make
use:
  br i1 %is.tuple, label %from.tuple, label %use.one
from.tuple:
  %part = call ptr @PyTuple_GetItem(ptr %out, i64 %item)
  br label %use.one
use.one:
  %target = phi ptr [ %out, %use ], [ %part, %from.tuple ]
  %p.param = getelementptr %Result, ptr %result, i32 0, i32 5
  %param = load ptr, ptr %p.param
  store ptr null, ptr %owned
  %status = call i32 @py.read(ptr %state, ptr %member, ptr %param, ptr %target, ptr %words, ptr %place, ptr %owned)
  %view = load ptr, ptr %owned ; of the target, which keeps the memory
  call void @Py_DecRef(ptr %view)
  %read = icmp eq i32 %status, 0
  br i1 %read, label %apart, label %forget
forget:
  store ptr null, ptr %place ; the memory is not ours to free
  br label %fail
apart:
  call void @Py_IncRef(ptr %target)
  store ptr %target, ptr %p.boxed
  %shared = call i1 @py.shared(ptr %member, ptr %words, ptr %param, ptr %place)
  br i1 %shared, label %overlap, label %next
overlap:
  call void @py.raise_overlap(ptr %member, ptr %param)
  br label %fail
make:
  %after = add i32 %like, 1
  %dims = getelementptr i64, ptr %words, i32 %after
  %fresh = call ptr @py.new_array(ptr %state, ptr %result, ptr %dims, ptr null)
  %no.memory = icmp eq ptr %fresh, null
  br i1 %no.memory, label %fail, label %made
made:
  store ptr %fresh, ptr %p.boxed
  %p.data = getelementptr i8, ptr %fresh, i64 16
  %data = load ptr, ptr %p.data
  store ptr %data, ptr %place
  br label %next
next:
  %p.param.2 = getelementptr %Result, ptr %result, i32 0, i32 5
  %param.2 = load ptr, ptr %p.param.2
  %is.gradient = icmp ne ptr %param.2, null
  %advance = zext i1 %is.gradient to i64
  %item.next = add i64 %item, %advance
  %k.next = add i64 %k, 1
  br label %loop
ok:
  ret i32 0
fail:
  ret i32 1
}

; PyArray_NewFromDescr: over %data (contiguous, writeable), or over memory of its own.
define internal ptr @py.new_array(ptr %state, ptr %result, ptr %dims, ptr %data) #3 {
  %table = load ptr, ptr %state
  %p.new = getelementptr ptr, ptr %table, i64 94
  %new = load ptr, ptr %p.new
  %p.type = getelementptr %State, ptr %state, i32 0, i32 1
  %type = load ptr, ptr %p.type
  %kind = load i32, ptr %result
  %which = sub i32 %kind, 3
  %p.descr = getelementptr %State, ptr %state, i32 0, i32 2, i32 %which
  %descr = load ptr, ptr %p.descr
  call void @Py_IncRef(ptr %descr)
  %p.rank = getelementptr %Result, ptr %result, i32 0, i32 1
  %rank = load i32, ptr %p.rank
  %over = icmp ne ptr %data, null
  %flags = select i1 %over, i32 1281, i32 0
  %array = call ptr %new(ptr %type, ptr %descr, i32 %rank, ptr %dims, ptr null, ptr %data, i32 %flags, ptr null)
  ret ptr %array
}

; Result k as an object of its class, into boxed[k]. 1 with an exception set.
define internal i32 @py.box(ptr %state, ptr %result, ptr %place, ptr %p.boxed) #3 {
entry:
  %already = load ptr, ptr %p.boxed
  %have = icmp ne ptr %already, null
  br i1 %have, label %ok, label %make
make:
  %p.box = getelementptr %Result, ptr %result, i32 0, i32 2
  %box = load i32, ptr %p.box
  switch i32 %box, label %array [ i32 0, label %float i32 1, label %int i32 2, label %bool i32 3, label %scalar i32 5, label %ok ]
float:
  %x = load double, ptr %place
  %o.float = call ptr @PyFloat_FromDouble(double %x)
  br label %put
int:
  %n = load i64, ptr %place
  %o.int = call ptr @PyLong_FromLongLong(i64 %n)
  br label %put
bool:
  %b = load i8, ptr %place
  %wide = zext i8 %b to i64
  %o.bool = call ptr @PyBool_FromLong(i64 %wide)
  br label %put
scalar:
  %table = load ptr, ptr %state
  %p.scalar = getelementptr ptr, ptr %table, i64 60
  %make.scalar = load ptr, ptr %p.scalar
  %p.descr = getelementptr %State, ptr %state, i32 0, i32 2, i32 0
  %descr = load ptr, ptr %p.descr
  %o.scalar = call ptr %make.scalar(ptr %place, ptr %descr, ptr null)
  br label %put
array:
  %data = load ptr, ptr %place
  %dims = getelementptr i8, ptr %place, i64 8
  %o.array = call ptr @py.new_array(ptr %state, ptr %result, ptr %dims, ptr %data)
  %bad.array = icmp eq ptr %o.array, null
  br i1 %bad.array, label %fail, label %own
own:
  %p.flags = getelementptr i8, ptr %o.array, i64 64
  %flags = load i32, ptr %p.flags
  %owning = or i32 %flags, 4
  store i32 %owning, ptr %p.flags
  br label %put
put:
  %object = phi ptr [ %o.float, %float ], [ %o.int, %int ], [ %o.bool, %bool ], [ %o.scalar, %scalar ], [ %o.array, %own ]
  store ptr %object, ptr %p.boxed
  %bad = icmp eq ptr %object, null
  br i1 %bad, label %fail, label %ok
ok:
  ret i32 0
fail:
  ret i32 1
}

; Box all results and put them together as the program says. New reference, or null.
define internal ptr @py.results(ptr %state, ptr %member, ptr %frame) #3 {
entry:
  %p.outs = getelementptr %Frame, ptr %frame, i32 0, i32 3
  %outs = load ptr, ptr %p.outs
  %p.boxed.all = getelementptr %Frame, ptr %frame, i32 0, i32 4
  %boxed = load ptr, ptr %p.boxed.all
  %p.stack = getelementptr %Frame, ptr %frame, i32 0, i32 5
  %stack = load ptr, ptr %p.stack
  %p.results = getelementptr %Member, ptr %member, i32 0, i32 5
  %results = load ptr, ptr %p.results
  %p.n = getelementptr %Member, ptr %member, i32 0, i32 6
  %n32 = load i32, ptr %p.n
  %n = zext i32 %n32 to i64
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %k.next, %boxed.one ]
  %more = icmp ult i64 %k, %n
  br i1 %more, label %one, label %assemble
one:
  %result = getelementptr %Result, ptr %results, i64 %k
  %p.offset = getelementptr %Result, ptr %result, i32 0, i32 4
  %offset = load i32, ptr %p.offset
  %place = getelementptr i64, ptr %outs, i32 %offset
  %p.boxed = getelementptr ptr, ptr %boxed, i64 %k
  %status = call i32 @py.box(ptr %state, ptr %result, ptr %place, ptr %p.boxed)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %boxed.one, label %fail
boxed.one:
  %k.next = add i64 %k, 1
  br label %loop
assemble:
  %p.program = getelementptr %Member, ptr %member, i32 0, i32 7
  %program = load ptr, ptr %p.program
  %p.length = getelementptr %Member, ptr %member, i32 0, i32 8
  %length32 = load i32, ptr %p.length
  %length = zext i32 %length32 to i64
  br label %step
step:
  %pc = phi i64 [ 0, %assemble ], [ %pc.next, %pushed ]
  %top = phi i64 [ 0, %assemble ], [ %top.next, %pushed ]
  %running = icmp ult i64 %pc, %length
  br i1 %running, label %decode, label %done
decode:
  %p.code = getelementptr i32, ptr %program, i64 %pc
  %code = load i32, ptr %p.code
  %is.result = icmp sge i32 %code, 0
  br i1 %is.result, label %push, label %other
push:
  %p.value = getelementptr ptr, ptr %boxed, i32 %code
  %value = load ptr, ptr %p.value
  call void @Py_IncRef(ptr %value)
  br label %pushed
other:
  %is.none = icmp eq i32 %code, -1000
  br i1 %is.none, label %none, label %tuple
none:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  br label %pushed
tuple:
  %minus = sub i32 -1, %code
  %count = zext i32 %minus to i64
  %base = sub i64 %top, %count
  %new = call ptr @PyTuple_New(i64 %count)
  br label %fill
fill:
  %j = phi i64 [ 0, %tuple ], [ %j.next, %fill.one ]
  %fill.more = icmp ult i64 %j, %count
  br i1 %fill.more, label %fill.one, label %pushed
fill.one:
  %from = add i64 %base, %j
  %p.from = getelementptr ptr, ptr %stack, i64 %from
  %part = load ptr, ptr %p.from
  %ignored = call i32 @PyTuple_SetItem(ptr %new, i64 %j, ptr %part)
  %j.next = add i64 %j, 1
  br label %fill
pushed:
  %object = phi ptr [ %value, %push ], [ @_Py_NoneStruct, %none ], [ %new, %fill ]
  %at = phi i64 [ %top, %push ], [ %top, %none ], [ %base, %fill ]
  %p.at = getelementptr ptr, ptr %stack, i64 %at
  store ptr %object, ptr %p.at
  %top.next = add i64 %at, 1
  %pc.next = add i64 %pc, 1
  br label %step
done:
  %answer = load ptr, ptr %stack
  ret ptr %answer
fail:
  ret ptr null
}

; Give back all that a call holds: converted arguments, boxed results, result memory that no object owns.
define internal void @py.drop(ptr %member, ptr %frame, ptr %hold) #3 {
entry:
  %p.owned = getelementptr %Frame, ptr %frame, i32 0, i32 1
  %owned = load ptr, ptr %p.owned
  %p.outs = getelementptr %Frame, ptr %frame, i32 0, i32 3
  %outs = load ptr, ptr %p.outs
  %p.boxed = getelementptr %Frame, ptr %frame, i32 0, i32 4
  %boxed = load ptr, ptr %p.boxed
  %p.count = getelementptr %Member, ptr %member, i32 0, i32 2
  %count = load i32, ptr %p.count
  %p.cts = getelementptr %Member, ptr %member, i32 0, i32 3
  %cts = load i32, ptr %p.cts
  %all = add i32 %count, %cts
  call void @py.drop_all(ptr %owned, i32 %all)
  call void @py.drop_all(ptr %hold, i32 2)
  %p.results = getelementptr %Member, ptr %member, i32 0, i32 5
  %results = load ptr, ptr %p.results
  %p.n = getelementptr %Member, ptr %member, i32 0, i32 6
  %n = load i32, ptr %p.n
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k.next, %next ]
  %more = icmp ult i32 %k, %n
  br i1 %more, label %one, label %done
one:
  %result = getelementptr %Result, ptr %results, i32 %k
  %kind = load i32, ptr %result
  %array = icmp uge i32 %kind, 3
  %p.object = getelementptr ptr, ptr %boxed, i32 %k
  %object = load ptr, ptr %p.object
  %loose = icmp eq ptr %object, null
  %look = and i1 %array, %loose
  br i1 %look, label %memory, label %next
memory:
  %p.offset = getelementptr %Result, ptr %result, i32 0, i32 4
  %offset = load i32, ptr %p.offset
  %place = getelementptr i64, ptr %outs, i32 %offset
  %data = load ptr, ptr %place
  call void @free(ptr %data)
  br label %next
next:
  %k.next = add i32 %k, 1
  br label %loop
done:
  call void @py.drop_all(ptr %boxed, i32 %n)
  ret void
}

define internal void @py.drop_all(ptr %objects, i32 %n) #3 {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k.next, %one ]
  %more = icmp ult i32 %k, %n
  br i1 %more, label %one, label %done
one:
  %p.object = getelementptr ptr, ptr %objects, i32 %k
  %object = load ptr, ptr %p.object
  call void @Py_DecRef(ptr %object)
  %k.next = add i32 %k, 1
  br label %loop
done:
  ret void
}

; A call from end to end. Py_DecRef(NULL) does nothing, so `drop` need not ask.
define internal ptr @py.call(ptr %self, ptr %args, i64 %nargs, ptr %kwnames, ptr %member, ptr %frame) #3 {
entry:
  %ctx = alloca %Ctx
  %hold = alloca [2 x ptr]
  %out = alloca ptr
  store %Ctx zeroinitializer, ptr %ctx
  store [2 x ptr] zeroinitializer, ptr %hold
  store ptr null, ptr %out
  %state = call ptr @PyModule_GetState(ptr %self)
  %own.items = load ptr, ptr %frame
  %p.owned = getelementptr %Frame, ptr %frame, i32 0, i32 1
  %owned = load ptr, ptr %p.owned
  %p.words = getelementptr %Frame, ptr %frame, i32 0, i32 2
  %words = load ptr, ptr %p.words
  %p.outs = getelementptr %Frame, ptr %frame, i32 0, i32 3
  %outs = load ptr, ptr %p.outs
  %p.boxed = getelementptr %Frame, ptr %frame, i32 0, i32 4
  %boxed = load ptr, ptr %p.boxed
  %items = call ptr @py.gather(ptr %self, ptr %args, i64 %nargs, ptr %kwnames, ptr %member, ptr %own.items, ptr %hold, ptr %out)
  %no.items = icmp eq ptr %items, null
  br i1 %no.items, label %end, label %read
read:
  %read.status = call i32 @py.read_all(ptr %state, ptr %member, ptr %items, ptr %words, ptr %owned)
  %readable = icmp eq i32 %read.status, 0
  br i1 %readable, label %prepare, label %end
prepare:
  %out.given = load ptr, ptr %out
  %prepared = call i32 @py.prepare(ptr %state, ptr %member, ptr %words, ptr %outs, ptr %boxed, ptr %out.given)
  %ready = icmp eq i32 %prepared, 0
  br i1 %ready, label %run, label %end
run:
  %p.flags = getelementptr %Member, ptr %member, i32 0, i32 9
  %flags = load i32, ptr %p.flags
  %release = and i32 %flags, 1
  %releases = icmp ne i32 %release, 0
  br i1 %releases, label %unlock, label %compute
unlock:
  %thread = call ptr @PyEval_SaveThread()
  br label %compute
compute:
  %saved = phi ptr [ null, %run ], [ %thread, %unlock ]
  %p.thunk = getelementptr %Member, ptr %member, i32 0, i32 1
  %thunk = load ptr, ptr %p.thunk
  %status = call i32 %thunk(ptr %ctx, ptr %words, ptr %outs)
  call void @rt.finish(ptr %ctx)
  br i1 %releases, label %lock, label %judge
lock:
  call void @PyEval_RestoreThread(ptr %saved)
  br label %judge
judge:
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %give, label %raise
raise:
  %error = load ptr, ptr %ctx
  %p.class = load ptr, ptr %error
  %class = load ptr, ptr %p.class
  %p.message = getelementptr %Error, ptr %error, i32 0, i32 1
  %message = load ptr, ptr %p.message
  call void @PyErr_SetString(ptr %class, ptr %message)
  br label %end
give:
  %made = call ptr @py.results(ptr %state, ptr %member, ptr %frame)
  br label %end
end:
  %answer = phi ptr [ null, %entry ], [ null, %read ], [ null, %prepare ], [ null, %raise ], [ %made, %give ]
  call void @py.drop(ptr %member, ptr %frame, ptr %hold)
  ret ptr %answer
}
"""
