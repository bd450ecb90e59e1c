"""Checking builds: the same kernels, watched.

``COUNT`` tells the allocation counter (see ``counter``) where compiled code is entered and left; nothing else differs from a build that
ships. ``CANARIES`` gives each block of the plan a head and a canary behind its last byte, fills it with a pattern, and tells when it is freed how
far it was written and whether the canary is whole; what would be on the stack is a block like the others. Without the counter in the process
both run as usual.
"""

from __future__ import annotations

from enum import Enum

from adcore.allocation.blocks import PATTERN
from adcore.allocation.record import AWAY, BACK, CHECKED, ENTERED, LEFT


class Checking(Enum):
    NOTHING = "nothing"
    COUNT = "count"
    CANARIES = "canaries"


CANARY = 0xC5
CANARY_BYTES = 32
HEAD_BYTES = 16
HEAD_WORD = 0x5AFE5AFE5AFE5AFE

ENTER, LEAVE, FIND = "; checking: entered", "; checking: left", "; checking: find the counter"
GO, RETURN = "; checking: away", "; checking: back"  # around a call of a library

WATCH = """
@rt.hook = internal global ptr null ; the counter's adcore_watch, where it is loaded
@rt.hook.name = private unnamed_addr constant [13 x i8] c"adcore_watch\\00"
declare ptr @dlsym(ptr, ptr) nonlazybind
define internal void @rt.watch(i64 %kind, ptr %address, i64 %bytes, i64 %extra) #0 {
  %hook = load ptr, ptr @rt.hook
  %none = icmp eq ptr %hook, null
  br i1 %none, label %done, label %tell
tell:
  call void %hook(i64 %kind, ptr %address, i64 %bytes, i64 %extra)
  br label %done
done:
  ret void
}
"""

_LINES = {
    ENTER: f"call void @rt.watch(i64 {ENTERED}, ptr null, i64 0, i64 0)",
    LEAVE: f"call void @rt.watch(i64 {LEFT}, ptr null, i64 0, i64 0)",
    GO: f"call void @rt.watch(i64 {AWAY}, ptr null, i64 0, i64 0)",
    RETURN: f"call void @rt.watch(i64 {BACK}, ptr null, i64 0, i64 0)",
    FIND: "%hook = call ptr @dlsym(ptr null, ptr @rt.hook.name)\n  store ptr %hook, ptr @rt.hook",
}

CHECKED_BLOCKS = f"""
; A block {{ bytes, head word, data, canary }}; the data pointer, or null with the error set.
define internal noalias ptr @rt.alloc(ptr %ctx, i64 %bytes) #0 {{
  %fn = load ptr, ptr @adcore_malloc
  %some = call i64 @llvm.umax.i64(i64 %bytes, i64 1)
  %whole = call i64 @llvm.uadd.sat.i64(i64 %some, i64 {HEAD_BYTES + CANARY_BYTES})
  %block = call ptr %fn(i64 %whole)
  %null = icmp eq ptr %block, null
  br i1 %null, label %fail, label %ok
fail:
  store ptr @rt.no_memory, ptr %ctx
  ret ptr null
ok:
  %p.word = getelementptr i8, ptr %block, i64 8
  %data = getelementptr i8, ptr %block, i64 {HEAD_BYTES}
  %canary = getelementptr i8, ptr %data, i64 %some
  store i64 %some, ptr %block
  store i64 {HEAD_WORD}, ptr %p.word
  call void @llvm.memset.p0.i64(ptr %data, i8 {PATTERN - 256}, i64 %some, i1 false)
  call void @llvm.memset.p0.i64(ptr %canary, i8 {CANARY - 256}, i64 {CANARY_BYTES}, i1 false)
  ret ptr %data
}}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i64 @llvm.uadd.sat.i64(i64, i64)

define internal void @rt.free(ptr %data) #0 {{
entry:
  %null = icmp eq ptr %data, null
  br i1 %null, label %done, label %head
head:
  %block = getelementptr i8, ptr %data, i64 -{HEAD_BYTES}
  %p.word = getelementptr i8, ptr %block, i64 8
  %some = load i64, ptr %block
  %word = load i64, ptr %p.word
  %head.whole = icmp eq i64 %word, {HEAD_WORD}
  br i1 %head.whole, label %canary, label %tell
canary:
  %k = phi i64 [ 0, %head ], [ %k.next, %canary.next ]
  %more = icmp ult i64 %k, {CANARY_BYTES}
  br i1 %more, label %canary.one, label %scan
canary.one:
  %at = add i64 %some, %k
  %p.canary = getelementptr i8, ptr %data, i64 %at
  %byte = load i8, ptr %p.canary
  %whole = icmp eq i8 %byte, {CANARY - 256}
  br i1 %whole, label %canary.next, label %tell
canary.next:
  %k.next = add i64 %k, 1
  br label %canary
scan:
  %end = phi i64 [ %some, %canary ], [ %before, %unwritten ]
  %left = icmp eq i64 %end, 0
  br i1 %left, label %tell, label %look
look:
  %before = sub i64 %end, 1
  %p.last = getelementptr i8, ptr %data, i64 %before
  %last = load i8, ptr %p.last
  %fresh = icmp eq i8 %last, {PATTERN - 256}
  br i1 %fresh, label %unwritten, label %tell
unwritten:
  br label %scan
tell:
  %touched = phi i64 [ -1, %head ], [ -1, %canary.one ], [ 0, %scan ], [ %end, %look ]
  call void @rt.watch(i64 {CHECKED}, ptr %block, i64 %some, i64 %touched)
  %fn = load ptr, ptr @adcore_free
  call void %fn(ptr %block)
  br label %done
done:
  ret void
}}
"""


def checked(text: str, checking: Checking, blocks: str) -> str:
    """A module's text as the checking build has it; ``blocks`` are the routines that canaries replace."""
    if checking is Checking.NOTHING:
        return text
    for mark, line in _LINES.items():
        text = text.replace(mark, line)
    if checking is Checking.CANARIES:
        text = text.replace(blocks, CHECKED_BLOCKS)
    return text + WATCH
