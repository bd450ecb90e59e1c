"""A call from end to end, and the one path on which everything that it holds is given back.

LLVM text; the tables are described in ``entry_text``.
"""

CALL = """
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
  %items = call ptr @py.gather(ptr %self, ptr %args, i64 %nargs, ptr %kwnames, ptr %member, ptr %own.items,
    ptr %hold, ptr %out)
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
  ; products: find BLAS
  %release = and i32 %flags, 1
  %releases = icmp ne i32 %release, 0
  br i1 %releases, label %unlock, label %compute
unlock:
  %thread = call ptr @PyEval_SaveThread()
  %p.thread = getelementptr %Ctx, ptr %ctx, i32 0, i32 6
  store ptr %thread, ptr %p.thread
  br label %compute
compute:
  %p.thunk = getelementptr %Member, ptr %member, i32 0, i32 1
  %thunk = load ptr, ptr %p.thunk
  ; checking: entered
  %status = call i32 %thunk(ptr %ctx, ptr %words, ptr %outs)
  call void @rt.finish(ptr %ctx)
  ; checking: left
  br i1 %releases, label %lock, label %judge
lock:
  %p.saved = getelementptr %Ctx, ptr %ctx, i32 0, i32 6
  %saved = load ptr, ptr %p.saved ; a look at signals may have changed it
  call void @PyEval_RestoreThread(ptr %saved)
  br label %judge
judge:
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %give, label %raise
raise:
  %error = load ptr, ptr %ctx
  %raised = icmp eq ptr %error, null
  br i1 %raised, label %end, label %word
word:
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
  %answer = phi ptr [ null, %entry ], [ null, %read ], [ null, %prepare ], [ null, %raise ], [ null, %word ], [ %made, %give ]
  call void @py.drop(ptr %member, ptr %frame, ptr %hold)
  ret ptr %answer
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
"""
