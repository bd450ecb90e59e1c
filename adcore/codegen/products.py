"""Products of matrices: BLAS where it has been found and takes them, loops where it has not or they are tiny.

BLAS is the one that SciPy exports as function pointers; an entry point looks for it once, under the interpreter's lock
(``@py.find_blas``), before the kernel runs without that lock. Nothing is linked, and nothing is imported before a function that
multiplies matrices is called.

BLAS thinks in columns: of matrices in rows it computes the transposed product, of the second by the first. A matrix that is
contiguous along one axis goes as it is, whatever the other axis; other strides, sizes that leave 32 bits, and products in which the
zeros of a cotangent meet numbers that are not finite take the loops.
"""

from __future__ import annotations

from adcore.codegen.checking import GO, RETURN
from adcore.codegen.context import Context
from adcore.codegen.layout import byte_strides
from adcore.codegen.memory import fresh
from adcore.codegen.text import ModuleText
from adcore.ir.core import Op
from adcore.ir.types import F64

TINY = 64  # products of so many terms or fewer are done before BLAS has looked at its arguments
FOUR = range(
    4
)  # rows of b are added to a row of c by so many, in their order: it is read and written a fourth as often
ZEROS = {"": 0, "a": 1, "b": 2, "ab": 3}

FOUR_ROWS = "\n".join(
    f"""  %p.{t} = add i64 %p, {t}
  %x.at.{t} = mul i64 %p.{t}, %a1
  %x.p.{t} = getelementptr i8, ptr %a.line, i64 %x.at.{t}
  %x.{t} = load double, ptr %x.p.{t}, align 8
  %b.at.{t} = mul i64 %p.{t}, %b0
  %b.line.{t} = getelementptr i8, ptr %b, i64 %b.at.{t}"""
    for t in FOUR
)
FOUR_TERMS = "\n".join(
    f"""  %y.p.{t} = getelementptr double, ptr %b.line.{t}, i64 %jj
  %y.{t} = load double, ptr %y.p.{t}, align 8
  %term.{t} = fmul double %x.{t}, %y.{t}
  %c.{t + 1} = fadd double %c.{t}, %term.{t}"""
    for t in FOUR
)

ROUTINES = f"""
@rt.dgemm = internal global ptr null ; SciPy's, or null
@rt.dgemm.sought = internal global i8 0
@rt.no = private unnamed_addr constant [1 x i8] c"N"
@rt.yes = private unnamed_addr constant [1 x i8] c"T"
; It is not to be specialised: the code of a kernel does not depend on its neighbours.
@llvm.compiler.used = appending global [1 x ptr] [ptr @rt.matmul], section "llvm.metadata"

; How BLAS sees a matrix of `rows` and `columns` with byte strides s0 and s1: its leading dimension, negative where it is to be
; transposed, 0 where BLAS cannot take it. An axis of size 1 has any stride.
define internal i64 @rt.leading(i64 %rows, i64 %columns, i64 %s0, i64 %s1) #0 {{
  %one.row = icmp eq i64 %rows, 1
  %one.column = icmp eq i64 %columns, 1
  %least.0 = shl i64 %columns, 3
  %least.1 = shl i64 %rows, 3
  %t0 = select i1 %one.row, i64 %least.0, i64 %s0
  %t1 = select i1 %one.column, i64 %least.1, i64 %s1
  %unit.1.a = icmp eq i64 %s1, 8
  %unit.1 = or i1 %unit.1.a, %one.column
  %wide.0 = icmp sge i64 %t0, %least.0
  %unit.0.a = icmp eq i64 %s0, 8
  %unit.0 = or i1 %unit.0.a, %one.row
  %wide.1 = icmp sge i64 %t1, %least.1
  %low.0 = and i64 %t0, 7
  %low.1 = and i64 %t1, 7
  %even.0 = icmp eq i64 %low.0, 0
  %even.1 = icmp eq i64 %low.1, 0
  %small.0 = icmp slt i64 %t0, {8 * (2**31 - 1)}
  %small.1 = icmp slt i64 %t1, {8 * (2**31 - 1)}
  %a = and i1 %unit.1, %wide.0
  %b = and i1 %a, %even.0
  %rows.fit = and i1 %b, %small.0
  %c = and i1 %unit.0, %wide.1
  %d = and i1 %c, %even.1
  %columns.fit = and i1 %d, %small.1
  %l0 = ashr i64 %t0, 3
  %l1 = ashr i64 %t1, 3
  %minus = sub i64 0, %l1
  %second = select i1 %columns.fit, i64 %minus, i64 0
  %leading = select i1 %rows.fit, i64 %l0, i64 %second
  ret i64 %leading
}}

; Whether all elements are finite: the sum of x - x, which is 0 for finite x and NaN else. It goes along the contiguous axis.
define internal i1 @rt.finite(ptr %a, i64 %rows, i64 %columns, i64 %s0, i64 %s1) #0 {{
entry:
  %turned = icmp eq i64 %s0, 8
  %lines = select i1 %turned, i64 %columns, i64 %rows
  %length = select i1 %turned, i64 %rows, i64 %columns
  %apart = select i1 %turned, i64 %s1, i64 %s0
  %step = select i1 %turned, i64 %s0, i64 %s1
  %contiguous = icmp eq i64 %step, 8
  br label %line
line:
  %i = phi i64 [ 0, %entry ], [ %i.next, %line.done ]
  %sum.i = phi double [ 0.0, %entry ], [ %sum.line, %line.done ]
  %more.i = icmp slt i64 %i, %lines
  br i1 %more.i, label %open, label %done
open:
  %offset = mul i64 %i, %apart
  %start = getelementptr i8, ptr %a, i64 %offset
  br i1 %contiguous, label %near, label %far
near:
  %j = phi i64 [ 0, %open ], [ %j.next, %near.one ]
  %sum.j = phi double [ %sum.i, %open ], [ %near.sum, %near.one ]
  %more.j = icmp slt i64 %j, %length
  br i1 %more.j, label %near.one, label %line.done
near.one:
  %near.p = getelementptr double, ptr %start, i64 %j
  %x = load double, ptr %near.p, align 8
  %x.zero = fsub double %x, %x
  %near.sum = fadd reassoc double %sum.j, %x.zero
  %j.next = add i64 %j, 1
  br label %near
far:
  %q = phi i64 [ 0, %open ], [ %q.next, %far.one ]
  %sum.q = phi double [ %sum.i, %open ], [ %far.sum, %far.one ]
  %more.q = icmp slt i64 %q, %length
  br i1 %more.q, label %far.one, label %line.done
far.one:
  %at = mul i64 %q, %step
  %far.p = getelementptr i8, ptr %start, i64 %at
  %y = load double, ptr %far.p, align 8
  %y.zero = fsub double %y, %y
  %far.sum = fadd reassoc double %sum.q, %y.zero
  %q.next = add i64 %q, 1
  br label %far
line.done:
  %sum.line = phi double [ %sum.j, %near ], [ %sum.q, %far ]
  %i.next = add i64 %i, 1
  br label %line
done:
  %finite = fcmp oeq double %sum.i, 0.0
  ret i1 %finite
}}

; c = a @ b: c has m rows of n, contiguous; a is m by k, b is k by n, with byte strides. zeros: bit 0 for a, bit 1 for b.
define internal void @rt.matmul(ptr noalias %c, i64 %m, i64 %n, i64 %k, ptr %a, i64 %a0, i64 %a1, ptr %b, i64 %b0, i64 %b1, i32 %zeros) #0 {{
entry:
  %m32 = alloca i32
  %n32 = alloca i32
  %k32 = alloca i32
  %lda32 = alloca i32
  %ldb32 = alloca i32
  %ldc32 = alloca i32
  %one = alloca double
  %none = alloca double
  %mn = mul i64 %m, %n
  %terms = mul i64 %mn, %k
  %tiny = icmp ule i64 %terms, {TINY}
  %ruled = icmp ne i32 %zeros, 0
  br i1 %ruled, label %ask, label %plain
ask:
  %a.finite = call i1 @rt.finite(ptr %a, i64 %m, i64 %k, i64 %a0, i64 %a1)
  %b.finite = call i1 @rt.finite(ptr %b, i64 %k, i64 %n, i64 %b0, i64 %b1)
  %finite = and i1 %a.finite, %b.finite
  br i1 %finite, label %plain, label %careful
plain:
  %dgemm = load ptr, ptr @rt.dgemm
  %no.blas = icmp eq ptr %dgemm, null
  %loops = or i1 %tiny, %no.blas
  br i1 %loops, label %own, label %look
look:
  %lda = call i64 @rt.leading(i64 %m, i64 %k, i64 %a0, i64 %a1)
  %ldb = call i64 @rt.leading(i64 %k, i64 %n, i64 %b0, i64 %b1)
  %a.odd = icmp eq i64 %lda, 0
  %b.odd = icmp eq i64 %ldb, 0
  %odd = or i1 %a.odd, %b.odd
  %mn.or = or i64 %m, %n
  %all.or = or i64 %mn.or, %k
  %large = icmp ugt i64 %all.or, {2**31 - 1}
  %not = or i1 %odd, %large
  br i1 %not, label %own, label %blas
blas:
  %a.turned = icmp slt i64 %lda, 0
  %b.turned = icmp slt i64 %ldb, 0
  %a.size = call i64 @llvm.abs.i64(i64 %lda, i1 true)
  %b.size = call i64 @llvm.abs.i64(i64 %ldb, i1 true)
  %ta = select i1 %a.turned, ptr @rt.yes, ptr @rt.no
  %tb = select i1 %b.turned, ptr @rt.yes, ptr @rt.no
  %m.t = trunc i64 %m to i32
  %n.t = trunc i64 %n to i32
  %k.t = trunc i64 %k to i32
  %a.t = trunc i64 %a.size to i32
  %b.t = trunc i64 %b.size to i32
  store i32 %m.t, ptr %m32
  store i32 %n.t, ptr %n32
  store i32 %k.t, ptr %k32
  store i32 %a.t, ptr %lda32
  store i32 %b.t, ptr %ldb32
  store i32 %n.t, ptr %ldc32
  store double 1.0, ptr %one
  store double 0.0, ptr %none
  {GO}
  call void %dgemm(ptr %tb, ptr %ta, ptr %n32, ptr %m32, ptr %k32, ptr %one, ptr %b, ptr %ldb32, ptr %a, ptr %lda32,
    ptr %none, ptr %c, ptr %ldc32)
  {RETURN}
  ret void
careful:
  call void @rt.matmul.careful(ptr %c, i64 %m, i64 %n, i64 %k, ptr %a, i64 %a0, i64 %a1, ptr %b, i64 %b0, i64 %b1, i32 %zeros)
  ret void
own:
  %bytes = shl i64 %mn, 3
  call void @llvm.memset.p0.i64(ptr align 8 %c, i8 0, i64 %bytes, i1 false)
  %rows.of.b = icmp eq i64 %b1, 8
  %rows.of.a = icmp eq i64 %a1, 8
  %columns.of.b = icmp eq i64 %b0, 8
  %near = and i1 %rows.of.a, %columns.of.b
  br label %i.head
i.head:
  %i = phi i64 [ 0, %own ], [ %i.next, %i.done ]
  %i.more = icmp slt i64 %i, %m
  br i1 %i.more, label %i.body, label %end
i.body:
  %c.at = mul i64 %i, %n
  %c.line = getelementptr double, ptr %c, i64 %c.at
  %a.at = mul i64 %i, %a0
  %a.line = getelementptr i8, ptr %a, i64 %a.at
  br i1 %rows.of.b, label %p.head, label %q.head
p.head: ; rows of b, which are contiguous, added up
  %p = phi i64 [ 0, %i.body ], [ %p.next, %p.done ], [ %p.after, %four.head ]
  %p.after = add i64 %p, {len(FOUR)}
  %four = icmp sle i64 %p.after, %k
  br i1 %four, label %four.rows, label %p.last
four.rows:
{FOUR_ROWS}
  br label %four.head
four.head:
  %jj = phi i64 [ 0, %four.rows ], [ %jj.next, %four.body ]
  %jj.more = icmp slt i64 %jj, %n
  br i1 %jj.more, label %four.body, label %p.head
four.body:
  %c.four = getelementptr double, ptr %c.line, i64 %jj
  %c.0 = load double, ptr %c.four, align 8
{FOUR_TERMS}
  store double %c.{len(FOUR)}, ptr %c.four, align 8
  %jj.next = add i64 %jj, 1
  br label %four.head
p.last:
  %p.more = icmp slt i64 %p, %k
  br i1 %p.more, label %p.body, label %i.done
p.body:
  %x.at = mul i64 %p, %a1
  %x.p = getelementptr i8, ptr %a.line, i64 %x.at
  %x = load double, ptr %x.p, align 8
  %b.at = mul i64 %p, %b0
  %b.line = getelementptr i8, ptr %b, i64 %b.at
  br label %j.head
j.head:
  %j = phi i64 [ 0, %p.body ], [ %j.next, %j.body ]
  %j.more = icmp slt i64 %j, %n
  br i1 %j.more, label %j.body, label %p.done
j.body:
  %y.p = getelementptr double, ptr %b.line, i64 %j
  %y = load double, ptr %y.p, align 8
  %c.p = getelementptr double, ptr %c.line, i64 %j
  %so.far = load double, ptr %c.p, align 8
  %term = fmul double %x, %y
  %sum = fadd double %so.far, %term
  store double %sum, ptr %c.p, align 8
  %j.next = add i64 %j, 1
  br label %j.head
p.done:
  %p.next = add i64 %p, 1
  br label %p.head
q.head: ; rows of a with columns of b
  %q = phi i64 [ 0, %i.body ], [ %q.next, %q.done ]
  %q.more = icmp slt i64 %q, %n
  br i1 %q.more, label %q.body, label %i.done
q.body:
  %column.at = mul i64 %q, %b1
  %column = getelementptr i8, ptr %b, i64 %column.at
  br i1 %near, label %s.head, label %r.head
s.head: ; both contiguous
  %s = phi i64 [ 0, %q.body ], [ %s.next, %s.body ]
  %near.dot = phi double [ 0.0, %q.body ], [ %near.dot.next, %s.body ]
  %s.more = icmp slt i64 %s, %k
  br i1 %s.more, label %s.body, label %q.done
s.body:
  %g.p = getelementptr double, ptr %a.line, i64 %s
  %g = load double, ptr %g.p, align 8
  %h.p = getelementptr double, ptr %column, i64 %s
  %h = load double, ptr %h.p, align 8
  %gh = fmul double %g, %h
  %near.dot.next = fadd reassoc double %near.dot, %gh
  %s.next = add i64 %s, 1
  br label %s.head
r.head:
  %r = phi i64 [ 0, %q.body ], [ %r.next, %r.body ]
  %dot = phi double [ 0.0, %q.body ], [ %dot.next, %r.body ]
  %r.more = icmp slt i64 %r, %k
  br i1 %r.more, label %r.body, label %q.done
r.body:
  %u.at = mul i64 %r, %a1
  %u.p = getelementptr i8, ptr %a.line, i64 %u.at
  %u = load double, ptr %u.p, align 8
  %v.at = mul i64 %r, %b0
  %v.p = getelementptr i8, ptr %column, i64 %v.at
  %v = load double, ptr %v.p, align 8
  %uv = fmul double %u, %v
  %dot.next = fadd reassoc double %dot, %uv
  %r.next = add i64 %r, 1
  br label %r.head
q.done:
  %whole.dot = phi double [ %near.dot, %s.head ], [ %dot, %r.head ]
  %d.p = getelementptr double, ptr %c.line, i64 %q
  store double %whole.dot, ptr %d.p, align 8
  %q.next = add i64 %q, 1
  br label %q.head
i.done:
  %i.next = add i64 %i, 1
  br label %i.head
end:
  ret void
}}

; The same term by term, where a zero of a or of b, as `zeros` says, makes a term 0 whatever the other factor is.
define internal void @rt.matmul.careful(ptr noalias %c, i64 %m, i64 %n, i64 %k, ptr %a, i64 %a0, i64 %a1, ptr %b, i64 %b0, i64 %b1, i32 %zeros) #0 {{
entry:
  %a.bit = and i32 %zeros, 1
  %b.bit = and i32 %zeros, 2
  %a.rules = icmp ne i32 %a.bit, 0
  %b.rules = icmp ne i32 %b.bit, 0
  br label %i.head
i.head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %i.done ]
  %i.more = icmp slt i64 %i, %m
  br i1 %i.more, label %j.head, label %end
j.head:
  %j = phi i64 [ 0, %i.head ], [ %j.next, %j.done ]
  %j.more = icmp slt i64 %j, %n
  br i1 %j.more, label %r.head, label %i.done
r.head:
  %r = phi i64 [ 0, %j.head ], [ %r.next, %r.body ]
  %dot = phi double [ 0.0, %j.head ], [ %dot.next, %r.body ]
  %r.more = icmp slt i64 %r, %k
  br i1 %r.more, label %r.body, label %j.done
r.body:
  %u.row = mul i64 %i, %a0
  %u.column = mul i64 %r, %a1
  %u.at = add i64 %u.row, %u.column
  %u.p = getelementptr i8, ptr %a, i64 %u.at
  %u = load double, ptr %u.p, align 8
  %v.row = mul i64 %r, %b0
  %v.column = mul i64 %j, %b1
  %v.at = add i64 %v.row, %v.column
  %v.p = getelementptr i8, ptr %b, i64 %v.at
  %v = load double, ptr %v.p, align 8
  %u.zero = fcmp oeq double %u, 0.0
  %v.zero = fcmp oeq double %v, 0.0
  %u.out = and i1 %u.zero, %a.rules
  %v.out = and i1 %v.zero, %b.rules
  %out = or i1 %u.out, %v.out
  %uv = fmul double %u, %v
  %term = select i1 %out, double 0.0, double %uv
  %dot.next = fadd double %dot, %term
  %r.next = add i64 %r, 1
  br label %r.head
j.done:
  %d.row = mul i64 %i, %n
  %d.at = add i64 %d.row, %j
  %d.p = getelementptr double, ptr %c, i64 %d.at
  store double %dot, ptr %d.p, align 8
  %j.next = add i64 %j, 1
  br label %j.head
i.done:
  %i.next = add i64 %i, 1
  br label %i.head
end:
  ret void
}}
declare i64 @llvm.abs.i64(i64, i1)
"""

SEEK = "; products: find BLAS"  # where a call has read its arguments
SOUGHT = """%multiply = and i32 %flags, 16
  %multiplies = icmp ne i32 %multiply, 0
  br i1 %multiplies, label %blas, label %go
blas:
  %found = call i32 @py.find_blas(ptr %state)
  %looked = icmp eq i32 %found, 0
  br i1 %looked, label %go, label %raise ; with an error that is set already
go:"""

FIND = """
; Look for BLAS, once, under the interpreter's lock: SciPy's dgemm, if it is there and takes 32-bit sizes. An import lets other
; threads run. They look too, and wait for it there, because a call that went on without BLAS would round otherwise than the next:
; the search is over when the pointer stands. 1 with an exception set where it was broken off, by Ctrl-C say; then it is not over.
define internal i32 @py.find_blas(ptr %state) #3 {
  %known = load atomic i8, ptr @rt.dgemm.sought acquire, align 1
  %sought = icmp ne i8 %known, 0
  br i1 %sought, label %done, label %seek
seek:
  %hook = call ptr @py.hook(ptr %state)
  %none = icmp eq ptr %hook, null
  br i1 %none, label %fail, label %function
function:
  %find = call ptr @PyObject_GetAttrString(ptr %hook, ptr @py.text.dgemm)
  %no.find = icmp eq ptr %find, null
  br i1 %no.find, label %fail, label %call
call:
  %capsule = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %find, ptr null)
  call void @Py_DecRef(ptr %find)
  %no.capsule = icmp eq ptr %capsule, null
  br i1 %no.capsule, label %fail, label %name
name:
  %signature = call ptr @PyCapsule_GetName(ptr %capsule) ; null with an error for None
  %nameless = icmp eq ptr %signature, null
  br i1 %nameless, label %clear, label %take
take:
  %dgemm = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr %signature)
  store ptr %dgemm, ptr @rt.dgemm
  br label %over
clear:
  call void @PyErr_Clear()
  br label %over
over:
  call void @Py_DecRef(ptr %capsule) ; SciPy's module holds it too
  store atomic i8 1, ptr @rt.dgemm.sought release, align 1
  br label %done
done:
  ret i32 0
fail:
  ret i32 1
}
declare ptr @PyCapsule_GetName(ptr) nonlazybind
"""


def with_products(entries: str, text: ModuleText) -> str:
    """The texts of the entry points, which look for BLAS where some kernel of the module multiplies matrices."""
    return entries.replace(SEEK, SOUGHT) + FIND if "rt.matmul" in text.declarations else entries


def lower_matmul(c: Context, op: Op) -> None:
    c.text.declare("memset", "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    c.text.declare("rt.matmul", ROUTINES)
    w = c.w
    rows, columns = (c.scalar(v) for v in op.operands[:2])
    a, b = (c.array(v) for v in op.operands[2:])
    made = fresh(c, c.ledger.values[op.result], F64, [rows, columns])
    matrices = [
        f"ptr {matrix.data}, " + ", ".join(f"i64 {stride}" for stride in byte_strides(w, matrix)) for matrix in (a, b)
    ]
    zeros = ZEROS[op.attrs["zeros"]]
    w.line(
        f"call void @rt.matmul(ptr {made.data}, i64 {rows}, i64 {columns}, i64 {a.dims[1]}, {', '.join(matrices)}, i32 {zeros})"
    )
    c.env[op.result] = made
