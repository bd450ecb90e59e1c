"""The support routines of compiled kernels, in LLVM text: heap blocks, the tape arena, array results.

All memory but the arrays handed to NumPy comes through ``adcore_malloc`` and goes through ``adcore_free``: two
variables that LLVM cannot see through, so that no allocation is optimised away and a checking build can count them.
A block belongs to the frame of the kernel that made or adopted it.

The arena is a chain of chunks ``{ previous, cur of previous, end, next }`` of geometric size; a record never straddles
two. Walking back keeps the chunk after the current one, so that a loop at a boundary does not allocate in every turn.
"""

from __future__ import annotations

from adcore.allocation.blocks import FIRST_CHUNK

# Fields of %Ctx: what went wrong (null: an exception is set already); the arena: current chunk, its first byte, first
# free byte, end; depth of recursion; the saved thread state while the lock is released; turns of outer loops
ERROR, CHUNK, BASE, CUR, END, DEPTH, THREAD, TICKS = range(8)
MAX_DEPTH = 1000  # CPython's default
POLL_EVERY = 64  # turns of an outer loop between looks at Ctrl-C
POLL_EVERY_SHORT = 1 << 14  # turns of a loop without a loop inside

# What a build with canaries replaces.
BLOCKS = """; A block of at least `bytes` bytes, or null with the error set.
define internal noalias ptr @rt.alloc(ptr %ctx, i64 %bytes) #0 {
  %fn = load ptr, ptr @adcore_malloc
  %some = call i64 @llvm.umax.i64(i64 %bytes, i64 1)
  %block = call ptr %fn(i64 %some)
  %null = icmp eq ptr %block, null
  br i1 %null, label %fail, label %ok
fail:
  store ptr @rt.no_memory, ptr %ctx
  ret ptr null
ok:
  ret ptr %block
}

define internal void @rt.free(ptr %data) #0 {
  %null = icmp eq ptr %data, null
  br i1 %null, label %done, label %go
go:
  %fn = load ptr, ptr @adcore_free
  call void %fn(ptr %data)
  br label %done
done:
  ret void
}
"""

RUNTIME = f"""
%Ctx = type {{ ptr, ptr, ptr, ptr, ptr, i64, ptr, i64 }}
%Chunk = type {{ ptr, ptr, ptr, ptr }}
%Error = type {{ ptr, ptr }}
%Held = type {{ ptr, i64 }} ; a block of the frame, and its capacity
@adcore_malloc = global ptr @malloc
@adcore_free = global ptr @free
@PyExc_MemoryError = external global ptr
@rt.no_memory.text = private unnamed_addr constant [14 x i8] c"out of memory\\00"
@rt.no_memory = internal constant %Error {{ ptr @PyExc_MemoryError, ptr @rt.no_memory.text }}
declare noalias ptr @malloc(i64) nonlazybind
declare void @free(ptr) nonlazybind
declare ptr @PyEval_SaveThread() nonlazybind
declare void @PyEval_RestoreThread(ptr) nonlazybind
declare i32 @PyErr_CheckSignals() nonlazybind

; Run pending signal handlers, under the interpreter's lock. 1 when one raised.
define internal i32 @rt.poll(ptr %ctx) #0 {{
  %p.thread = getelementptr %Ctx, ptr %ctx, i32 0, i32 {THREAD}
  %thread = load ptr, ptr %p.thread
  %held = icmp eq ptr %thread, null
  br i1 %held, label %fine, label %ask
ask:
  call void @PyEval_RestoreThread(ptr %thread)
  %raised = call i32 @PyErr_CheckSignals()
  %again = call ptr @PyEval_SaveThread()
  store ptr %again, ptr %p.thread
  %quiet = icmp eq i32 %raised, 0
  br i1 %quiet, label %fine, label %stop
fine:
  ret i32 0
stop:
  ret i32 1
}}

{BLOCKS}
; At the exit of a kernel: give back the blocks of its frame. (It is given the end and not the number of blocks:
; where all kernels have as many, LLVM would make them part of the routine, and a kernel's neighbours would show.)
define internal void @rt.free_frame(ptr %frame, ptr %end) #0 {{
entry:
  br label %loop
loop:
  %held = phi ptr [ %frame, %entry ], [ %next, %loop ]
  %block = load ptr, ptr %held
  call void @rt.free(ptr %block)
  %next = getelementptr %Held, ptr %held, i64 1
  %last = icmp eq ptr %next, %end
  br i1 %last, label %done, label %loop
done:
  ret void
}}

; Memory of an array result: what the caller gave, a block for a caller that is a kernel (tag 1), else plain malloc
; for NumPy.
; The kernel itself stores the pointer to %out: only then does LLVM know that others will read that memory.
define internal noalias ptr @rt.result(ptr %ctx, ptr %out, i64 %bytes) #0 {{
  %given = load ptr, ptr %out
  %tag = ptrtoint ptr %given to i64
  switch i64 %tag, label %given.already [ i64 0, label %fresh i64 1, label %block ]
given.already:
  ret ptr %given
block:
  %inner = call ptr @rt.alloc(ptr %ctx, i64 %bytes)
  ret ptr %inner
fresh:
  %some = call i64 @llvm.umax.i64(i64 %bytes, i64 1)
  %memory = call ptr @malloc(i64 %some)
  %null = icmp eq ptr %memory, null
  br i1 %null, label %fail, label %ok
fail:
  store ptr @rt.no_memory, ptr %ctx
  br label %ok
ok:
  ret ptr %memory
}}
declare i64 @llvm.umax.i64(i64, i64)

; Make room for a record of `size` bytes in the next chunk of the arena. 1 when there is no memory.
define internal i32 @rt.grow(ptr %ctx, i64 %size) #0 {{
entry:
  %p.chunk = getelementptr %Ctx, ptr %ctx, i32 0, i32 {CHUNK}
  %p.base = getelementptr %Ctx, ptr %ctx, i32 0, i32 {BASE}
  %p.cur = getelementptr %Ctx, ptr %ctx, i32 0, i32 {CUR}
  %p.end = getelementptr %Ctx, ptr %ctx, i32 0, i32 {END}
  %chunk = load ptr, ptr %p.chunk
  %first = icmp eq ptr %chunk, null
  br i1 %first, label %fresh, label %after
after:
  %p.next = getelementptr %Chunk, ptr %chunk, i32 0, i32 3
  %next = load ptr, ptr %p.next
  %last = icmp eq ptr %next, null
  br i1 %last, label %grow, label %spare
spare:
  %spare.data = getelementptr i8, ptr %next, i64 32
  %spare.p.end = getelementptr %Chunk, ptr %next, i32 0, i32 2
  %spare.end = load ptr, ptr %spare.p.end
  %spare.a = ptrtoint ptr %spare.data to i64
  %spare.z = ptrtoint ptr %spare.end to i64
  %spare.room = sub i64 %spare.z, %spare.a
  %fits = icmp uge i64 %spare.room, %size
  br i1 %fits, label %use, label %drop
drop:
  call void @rt.free_chunks(ptr %next)
  store ptr null, ptr %p.next
  br label %grow
grow:
  %old.p.end = getelementptr %Chunk, ptr %chunk, i32 0, i32 2
  %old.end = load ptr, ptr %old.p.end
  %old.a = ptrtoint ptr %chunk to i64
  %old.z = ptrtoint ptr %old.end to i64
  %old.size = sub i64 %old.z, %old.a
  %doubled = shl i64 %old.size, 1
  br label %fresh
fresh:
  %want = phi i64 [ {FIRST_CHUNK}, %entry ], [ %doubled, %grow ]
  %need = add i64 %size, 32
  %bytes = call i64 @llvm.umax.i64(i64 %want, i64 %need)
  %new = call ptr @rt.alloc(ptr %ctx, i64 %bytes)
  %null = icmp eq ptr %new, null
  br i1 %null, label %fail, label %made
fail:
  ret i32 1
made:
  %new.end = getelementptr i8, ptr %new, i64 %bytes
  %new.p.end = getelementptr %Chunk, ptr %new, i32 0, i32 2
  %new.p.next = getelementptr %Chunk, ptr %new, i32 0, i32 3
  store ptr %new.end, ptr %new.p.end
  store ptr null, ptr %new.p.next
  br i1 %first, label %use, label %chain
chain:
  %chain.next = getelementptr %Chunk, ptr %chunk, i32 0, i32 3
  store ptr %new, ptr %chain.next
  br label %use
use:
  %to = phi ptr [ %next, %spare ], [ %new, %made ], [ %new, %chain ]
  store ptr %chunk, ptr %to
  %cur = load ptr, ptr %p.cur
  %to.saved = getelementptr %Chunk, ptr %to, i32 0, i32 1
  store ptr %cur, ptr %to.saved
  %to.data = getelementptr i8, ptr %to, i64 32
  %to.p.end = getelementptr %Chunk, ptr %to, i32 0, i32 2
  %to.end = load ptr, ptr %to.p.end
  store ptr %to, ptr %p.chunk
  store ptr %to.data, ptr %p.base
  store ptr %to.data, ptr %p.cur
  store ptr %to.end, ptr %p.end
  ret i32 0
}}

; The current chunk is empty: go back to the last one that is not.
define internal void @rt.back(ptr %ctx) #0 {{
entry:
  %p.chunk = getelementptr %Ctx, ptr %ctx, i32 0, i32 {CHUNK}
  %p.base = getelementptr %Ctx, ptr %ctx, i32 0, i32 {BASE}
  %p.cur = getelementptr %Ctx, ptr %ctx, i32 0, i32 {CUR}
  %p.end = getelementptr %Ctx, ptr %ctx, i32 0, i32 {END}
  %chunk.0 = load ptr, ptr %p.chunk
  br label %loop
loop:
  %chunk = phi ptr [ %chunk.0, %entry ], [ %previous, %loop ]
  %previous = load ptr, ptr %chunk
  %p.saved = getelementptr %Chunk, ptr %chunk, i32 0, i32 1
  %saved = load ptr, ptr %p.saved
  %data = getelementptr i8, ptr %previous, i64 32
  %empty = icmp eq ptr %saved, %data
  br i1 %empty, label %loop, label %found
found:
  %p.previous.end = getelementptr %Chunk, ptr %previous, i32 0, i32 2
  %end = load ptr, ptr %p.previous.end
  store ptr %previous, ptr %p.chunk
  store ptr %data, ptr %p.base
  store ptr %saved, ptr %p.cur
  store ptr %end, ptr %p.end
  ret void
}}

; Free a chunk and those after it.
define internal void @rt.free_chunks(ptr %first) #0 {{
entry:
  br label %loop
loop:
  %chunk = phi ptr [ %first, %entry ], [ %next, %one ]
  %end = icmp eq ptr %chunk, null
  br i1 %end, label %done, label %one
one:
  %p.next = getelementptr %Chunk, ptr %chunk, i32 0, i32 3
  %next = load ptr, ptr %p.next
  call void @rt.free(ptr %chunk)
  br label %loop
done:
  ret void
}}

; The single exit of an entry: everything that hangs on the context is freed.
define internal void @rt.finish(ptr %ctx) #0 {{
entry:
  %p.chunk = getelementptr %Ctx, ptr %ctx, i32 0, i32 {CHUNK}
  %chunk.0 = load ptr, ptr %p.chunk
  %none = icmp eq ptr %chunk.0, null
  br i1 %none, label %done, label %loop
loop:
  %chunk = phi ptr [ %chunk.0, %entry ], [ %previous, %loop ]
  %previous = load ptr, ptr %chunk
  %first = icmp eq ptr %previous, null
  br i1 %first, label %free, label %loop
free:
  call void @rt.free_chunks(ptr %chunk)
  br label %done
done:
  ret void
}}
attributes #0 = {{ nounwind noinline uwtable }}
"""
