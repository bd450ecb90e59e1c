"""Kernel results to objects.

Gradients are written into arrays made before the call, other arrays take over memory from malloc.

LLVM text; the tables are described in ``entry_text``.
"""

RESULTS = """
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
  %argument = call ptr @py.shared(ptr %member, ptr %words, ptr %param, ptr %place)
  %earlier = call ptr @py.outs_shared(ptr %results, i64 %k, ptr %boxed, ptr %outs)
  %no.argument = icmp eq ptr %argument, null
  %other = select i1 %no.argument, ptr %earlier, ptr %argument
  %good = icmp eq ptr %other, null
  br i1 %good, label %next, label %overlap
overlap:
  call void @py.raise_overlap(ptr %member, ptr %param, ptr %other)
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
  switch i32 %box, label %array [ i32 0, label %float i32 1, label %int i32 2, label %bool i32 3,
    label %scalar i32 5, label %ok ]
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
  %object = phi ptr [ %o.float, %float ], [ %o.int, %int ], [ %o.bool, %bool ], [ %o.scalar, %scalar ], [ %o.array,
    %own ]
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
"""
