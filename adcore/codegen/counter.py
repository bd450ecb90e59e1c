"""The allocation counter: a library of its own, loaded before all others, through which every heap allocation of the process goes.

It stands below ``malloc`` and knows nothing of adcore's plans. While a thread counts (``adcore_counter_start`` to ``adcore_counter_stop``),
each allocation and each free of that thread becomes an event; a checking build (see ``checking``) adds events of its own for entry
and exit of compiled code. Made without a compiler: LLVM text, ``LD_PRELOAD``. It forwards to the names that glibc keeps for this.

    event = { kind, address, bytes, extra } of int64; kinds: see ``adcore.allocation.record``
"""

from __future__ import annotations

from adcore.codegen.compile import CodegenOptions, run_llvm

CAPACITY = 1 << 16  # events; what comes after is counted but not kept
EXPORTS = (
    "malloc", "calloc", "realloc", "reallocarray", "free", "memalign", "aligned_alloc", "posix_memalign", "valloc", "pvalloc",
    "adcore_watch", "adcore_counter_start", "adcore_counter_stop", "adcore_counter_events",
)  # fmt: skip

TEXT = f"""
source_filename = "adcore counter"
target triple = "x86_64-unknown-linux-gnu"
%Event = type {{ i64, i64, i64, i64 }}
@events = internal global [{CAPACITY} x %Event] zeroinitializer
@count = internal global i64 0
@owner = internal global i64 0
declare ptr @__libc_malloc(i64)
declare ptr @__libc_calloc(i64, i64)
declare ptr @__libc_realloc(ptr, i64)
declare void @__libc_free(ptr)
declare ptr @__libc_memalign(i64, i64)
declare ptr @__libc_valloc(i64)
declare ptr @__libc_pvalloc(i64)
declare i64 @pthread_self()
declare {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64, i64)

define internal void @note(i64 %kind, ptr %address, i64 %bytes, i64 %extra) noinline {{
  %owner = load atomic i64, ptr @owner monotonic, align 8
  %off = icmp eq i64 %owner, 0
  br i1 %off, label %done, label %ask
ask:
  %self = call i64 @pthread_self()
  %mine = icmp eq i64 %self, %owner
  br i1 %mine, label %write, label %done
write:
  %k = load i64, ptr @count
  %k.next = add i64 %k, 1
  store i64 %k.next, ptr @count
  %room = icmp ult i64 %k, {CAPACITY}
  br i1 %room, label %keep, label %done
keep:
  %event = getelementptr %Event, ptr @events, i64 %k
  %p.address = getelementptr %Event, ptr %event, i32 0, i32 1
  %p.bytes = getelementptr %Event, ptr %event, i32 0, i32 2
  %p.extra = getelementptr %Event, ptr %event, i32 0, i32 3
  %number = ptrtoint ptr %address to i64
  store i64 %kind, ptr %event
  store i64 %number, ptr %p.address
  store i64 %bytes, ptr %p.bytes
  store i64 %extra, ptr %p.extra
  br label %done
done:
  ret void
}}

; A failed allocation is none.
define internal ptr @made(ptr %block, i64 %bytes) {{
  %null = icmp eq ptr %block, null
  br i1 %null, label %done, label %some
some:
  call void @note(i64 1, ptr %block, i64 %bytes, i64 0)
  br label %done
done:
  ret ptr %block
}}
define internal void @gone(ptr %block) {{
  %null = icmp eq ptr %block, null
  br i1 %null, label %done, label %some
some:
  call void @note(i64 2, ptr %block, i64 0, i64 0)
  br label %done
done:
  ret void
}}

define ptr @malloc(i64 %bytes) nounwind {{
  %block = call ptr @__libc_malloc(i64 %bytes)
  %same = call ptr @made(ptr %block, i64 %bytes)
  ret ptr %same
}}
define ptr @calloc(i64 %n, i64 %each) nounwind {{
  %block = call ptr @__libc_calloc(i64 %n, i64 %each)
  %bytes = mul i64 %n, %each
  %same = call ptr @made(ptr %block, i64 %bytes)
  ret ptr %same
}}
define ptr @realloc(ptr %old, i64 %bytes) nounwind {{
  %block = call ptr @__libc_realloc(ptr %old, i64 %bytes)
  %failed = icmp eq ptr %block, null
  %some = icmp ne i64 %bytes, 0
  %kept = and i1 %failed, %some
  br i1 %kept, label %done, label %moved
moved:
  call void @gone(ptr %old)
  %same = call ptr @made(ptr %block, i64 %bytes)
  br label %done
done:
  ret ptr %block
}}
define ptr @reallocarray(ptr %old, i64 %n, i64 %each) nounwind {{
  %pair = call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 %n, i64 %each)
  %bytes = extractvalue {{ i64, i1 }} %pair, 0
  %over = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %over, label %fail, label %go
fail:
  ret ptr null
go:
  %block = call ptr @realloc(ptr %old, i64 %bytes)
  ret ptr %block
}}
define void @free(ptr %block) nounwind {{
  call void @gone(ptr %block)
  call void @__libc_free(ptr %block)
  ret void
}}
define ptr @memalign(i64 %align, i64 %bytes) nounwind {{
  %block = call ptr @__libc_memalign(i64 %align, i64 %bytes)
  %same = call ptr @made(ptr %block, i64 %bytes)
  ret ptr %same
}}
define ptr @aligned_alloc(i64 %align, i64 %bytes) nounwind {{
  %block = call ptr @memalign(i64 %align, i64 %bytes)
  ret ptr %block
}}
define i32 @posix_memalign(ptr %out, i64 %align, i64 %bytes) nounwind {{
  %less = sub i64 %align, 1
  %bits = and i64 %align, %less
  %no.power = icmp ne i64 %bits, 0
  %small = icmp ult i64 %align, 8
  %bad = or i1 %no.power, %small
  br i1 %bad, label %invalid, label %go
invalid:
  ret i32 22
go:
  %block = call ptr @memalign(i64 %align, i64 %bytes)
  %null = icmp eq ptr %block, null
  br i1 %null, label %fail, label %ok
fail:
  ret i32 12
ok:
  store ptr %block, ptr %out
  ret i32 0
}}
define ptr @valloc(i64 %bytes) nounwind {{
  %block = call ptr @__libc_valloc(i64 %bytes)
  %same = call ptr @made(ptr %block, i64 %bytes)
  ret ptr %same
}}
define ptr @pvalloc(i64 %bytes) nounwind {{
  %block = call ptr @__libc_pvalloc(i64 %bytes)
  %same = call ptr @made(ptr %block, i64 %bytes)
  ret ptr %same
}}

; What a checking build tells.
define void @adcore_watch(i64 %kind, ptr %address, i64 %bytes, i64 %extra) nounwind {{
  call void @note(i64 %kind, ptr %address, i64 %bytes, i64 %extra)
  ret void
}}
define void @adcore_counter_start() nounwind {{
  store i64 0, ptr @count
  %self = call i64 @pthread_self()
  store atomic i64 %self, ptr @owner monotonic, align 8
  ret void
}}
; How many events there were.
define i64 @adcore_counter_stop() nounwind {{
  store atomic i64 0, ptr @owner monotonic, align 8
  %n = load i64, ptr @count
  ret i64 %n
}}
define ptr @adcore_counter_events() nounwind {{
  ret ptr @events
}}
"""


def compile_counter() -> bytes:
    """The object file; link it with ``EXPORTS`` visible."""
    return run_llvm(TEXT, "obj", CodegenOptions())
