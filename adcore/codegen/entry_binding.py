"""Which objects are the arguments: positional calls at once, others through ``__adcore_bind__``.

The two tuples of a vjp; ``out=``.

LLVM text; the tables are described in ``entry_text``.
"""

BIND = """
; Where the arguments are: the caller's own vector, or the frame's items. Null with an exception set.
; What must live until the end goes to %hold (two references); the value of out= to %out.
define internal ptr @py.gather(ptr %self, ptr %args, i64 %nargs, ptr %kwnames, ptr %member, ptr %items, ptr %hold,
    ptr %out) #3 {
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
  ; An array or a string could be taken apart as well, which nobody means.
  %first = load ptr, ptr %args
  %p.first.type = getelementptr i8, ptr %first, i64 8
  %first.type = load ptr, ptr %p.first.type
  %type.flags = call i64 @PyType_GetFlags(ptr %first.type)
  %list.or.tuple = and i64 %type.flags, 100663296 ; 1 << 25 and 1 << 26
  %none.of.both = icmp eq i64 %list.or.tuple, 0
  br i1 %none.of.both, label %no.pair, label %opened
no.pair:
  %type.4 = load ptr, ptr @PyExc_TypeError
  %function.4 = load ptr, ptr %member
  %never.4 = call ptr (ptr, ptr, ...) @PyErr_Format(ptr %type.4, ptr @py.text.tuple, ptr %function.4)
  ret ptr null
opened:
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

; The tuple of arguments of a vjp has too few or too many items: bind them as a call would be. The result is left in
; %hold.
define internal i32 @py.tuple_items(ptr %tuple, i64 %n, ptr %self, ptr %member, ptr %hold) #3 {
  %items = alloca ptr, i64 %n
  %n32 = trunc i64 %n to i32
  %ignored = call i32 @py.unpack(ptr %tuple, i32 %n32, ptr %items)
  %bound = call ptr @py.bind(ptr %self, ptr %member, ptr %items, i64 %n, ptr null)
  store ptr %bound, ptr %hold
  ret i32 0
}

; The complete positional tuple for a call with keywords or defaults: bind(name, args, kwargs) of the module. New
; reference or null.
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
