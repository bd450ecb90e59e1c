"""One argument at a time: Python objects to words.

Fast where the object is as the kernel wants it, else through ``convert``.

LLVM text; the tables are described in ``entry_text``.
"""

READ = """
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

; One argument: fast, or converted by the Python source of the extension, which also words the errors. Returns 0, or
; 1 with an exception set.
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
  %new = call ptr (ptr, ptr, ...) @PyObject_CallFunction(ptr %hook, ptr @py.text.convert, ptr %function, ptr %name,
    i32 %kind, i32 %rank, i32 %flags, ptr %object, i32 %status, i64 %expected)
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
"""
