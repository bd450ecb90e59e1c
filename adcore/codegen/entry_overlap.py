"""Written arguments and ``out=`` share memory with nothing else.

All arrays are contiguous here, so ranges of bytes decide exactly.

LLVM text; the tables are described in ``entry_text``.
"""

OVERLAP = """
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

; The argument other than that at %self which shares memory with the array of %mine at %self, or null. A copied
; argument may share its memory with cotangents and tangents.
define internal ptr @py.shared(ptr %member, ptr %words, ptr %mine, ptr %self) #3 {
entry:
  %p.count = getelementptr %Member, ptr %member, i32 0, i32 2
  %count = load i32, ptr %p.count
  %p.cts = getelementptr %Member, ptr %member, i32 0, i32 3
  %cts = load i32, ptr %p.cts
  %p.flags = getelementptr %Param, ptr %mine, i32 0, i32 3
  %flags = load i32, ptr %p.flags
  %copied = and i32 %flags, 8
  %is.copied = icmp ne i32 %copied, 0
  %given = select i1 %is.copied, i32 0, i32 %cts
  %all = add i32 %count, %given
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
  ret ptr %param
no:
  ret ptr null
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
  %written = and i32 %flags, 9
  %is = icmp ne i32 %written, 0
  br i1 %is, label %compare, label %next
compare:
  %other = call ptr @py.shared(ptr %member, ptr %words, ptr %param, ptr %word)
  %apart = icmp eq ptr %other, null
  br i1 %apart, label %next, label %fail
next:
  %step = call i64 @py.word_count(ptr %param)
  %word.next = getelementptr i64, ptr %word, i64 %step
  %k.next = add i64 %k, 1
  br label %loop
ok:
  ret i32 0
fail:
  call void @py.raise_overlap(ptr %member, ptr %param, ptr %other)
  ret i32 1
}

define internal void @py.raise_overlap(ptr %member, ptr %param, ptr %other) #3 {
  %type = load ptr, ptr @PyExc_ValueError
  %function = load ptr, ptr %member
  %name = load ptr, ptr %param
  %role = call ptr @py.role(ptr %param)
  %end = call ptr @py.role_end(ptr %param)
  %other.name = load ptr, ptr %other
  %other.role = call ptr @py.role(ptr %other)
  %other.end = call ptr @py.role_end(ptr %other)
  %never = call ptr (ptr, ptr, ...) @PyErr_Format(ptr %type, ptr @py.text.overlap, ptr %function, ptr %role, ptr %name,
    ptr %end, ptr %other.role, ptr %other.name, ptr %other.end)
  ret void
}

; What stands around a name in a message: a parameter and its out= have the same one; a cotangent's says what it is.
define internal ptr @py.role(ptr %param) #3 {
  %p.flags = getelementptr %Param, ptr %param, i32 0, i32 3
  %flags = load i32, ptr %p.flags
  %given = and i32 %flags, 2
  %is.given = icmp ne i32 %given, 0
  %out = and i32 %flags, 4
  %is.out = icmp ne i32 %out, 0
  %named = select i1 %is.out, ptr @py.text.out.for, ptr @py.text.parameter
  %role = select i1 %is.given, ptr @py.text.nothing, ptr %named
  ret ptr %role
}

define internal ptr @py.role_end(ptr %param) #3 {
  %p.flags = getelementptr %Param, ptr %param, i32 0, i32 3
  %flags = load i32, ptr %p.flags
  %given = and i32 %flags, 2
  %is.given = icmp ne i32 %given, 0
  %end = select i1 %is.given, ptr @py.text.nothing, ptr @py.text.quote
  ret ptr %end
}

; The earlier result whose given array shares memory with the one given for result %k, or null.
define internal ptr @py.outs_shared(ptr %results, i64 %k, ptr %boxed, ptr %outs) #3 {
entry:
  %mine = getelementptr %Result, ptr %results, i64 %k
  %p.my.offset = getelementptr %Result, ptr %mine, i32 0, i32 4
  %my.offset = load i32, ptr %p.my.offset
  %my.place = getelementptr i64, ptr %outs, i32 %my.offset
  %p.my.param = getelementptr %Result, ptr %mine, i32 0, i32 5
  %my.param = load ptr, ptr %p.my.param
  %lo = load i64, ptr %my.place
  %my.bytes = call i64 @py.extent(ptr %my.param, ptr %my.place)
  %hi = add i64 %lo, %my.bytes
  br label %loop
loop:
  %j = phi i64 [ 0, %entry ], [ %j.next, %next ]
  %more = icmp ult i64 %j, %k
  br i1 %more, label %one, label %apart
one:
  %p.object = getelementptr ptr, ptr %boxed, i64 %j
  %object = load ptr, ptr %p.object
  %given = icmp ne ptr %object, null
  br i1 %given, label %compare, label %next
compare:
  %other = getelementptr %Result, ptr %results, i64 %j
  %p.offset = getelementptr %Result, ptr %other, i32 0, i32 4
  %offset = load i32, ptr %p.offset
  %place = getelementptr i64, ptr %outs, i32 %offset
  %p.param = getelementptr %Result, ptr %other, i32 0, i32 5
  %param = load ptr, ptr %p.param
  %a = load i64, ptr %place
  %bytes = call i64 @py.extent(ptr %param, ptr %place)
  %z = add i64 %a, %bytes
  %left = icmp ult i64 %a, %hi
  %right = icmp ult i64 %lo, %z
  %both = and i1 %left, %right
  br i1 %both, label %shared, label %next
next:
  %j.next = add i64 %j, 1
  br label %loop
shared:
  ret ptr %param
apart:
  ret ptr null
}
"""
