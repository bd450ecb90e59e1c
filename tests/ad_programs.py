"""Programs in IR text for the tests of differentiation, each with the plan that it must get."""

PROGRAMS = {
    "rosen": """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %hi = isub %n, %one : i64
  %s0 = const {value = 0.0} : f64
  %r = for %zero, %hi, %one, %s0 {exits = False} : f64 (%i: i64, %acc: f64) {
    %i1 = iadd %i, %one : i64
    %a = load %x, %i1 : f64
    %b = load %x, %i : f64
    %b2 = powi %b {n = 2} : f64
    %d = fsub %a, %b2 : f64
    %d2 = powi %d {n = 2} : f64
    %h = const {value = 100.0} : f64
    %t = fmul %h, %d2 : f64
    %u = const {value = 1.0} : f64
    %e = fsub %u, %b : f64
    %e2 = powi %e {n = 2} : f64
    %s = fadd %t, %e2 : f64
    %acc2 = fadd %acc, %s : f64
    yield %acc2
  }
  return %r
}
""",
    "prod": """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %s0 = const {value = 1.0} : f64
  %r = for %zero, %n, %one, %s0 {exits = False} : f64 (%i: i64, %acc: f64) {
    %a = load %x, %i : f64
    %c = flt %a, %s0 : bool
    %q = if %c : f64 {
      %z = sin %acc : f64
      %z2 = fmul %z, %a : f64
      yield %z2
    } {
      %w = fmul %acc, %a : f64
      yield %w
    }
    yield %q
  }
  return %r
}
""",
    "map": """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %y = map %n, %x {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%i: i64, %e: f64) {
    %s = exp %e : f64
    yield %s
  }
  %r, %p, %m = map %n, %y, %x {rank = 1, kinds = ("add", "mul", "max",)} : f64, f64, f64 (%i_1: i64, %e_2: f64, %g: f64) {
    %s_3 = cos %e_2 : f64
    %t = fmul %s_3, %g : f64
    yield %t, %e_2, %g
  }
  %q = fmul %r, %p : f64
  %w = fadd %q, %m : f64
  return %w
}
""",
    "buf": """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %y = alloc %n {dtype = !f64, fill = 1.0} : array<f64, [?], c>
  for %one, %n, %one {exits = False} (%i: i64) {
    %j = isub %i, %one : i64
    %a = load %y, %j : f64
    %b = load %x, %i : f64
    %c = fmul %a, %b : f64
    %s = sin %c : f64
    store %y, %i, %s
    %t = load %x, %j : f64
    %u = fmul %t, %t : f64
    store %y, %j, %u
    yield
  }
  %r = map %n, %y {rank = 1, kinds = ("add",)} : f64 (%i_1: i64, %e: f64) {
    %q = fmul %e, %e : f64
    yield %q
  }
  return %r
}
""",
    "carry": """
func @f(%x: array<f64, [?], c>, %T: i64) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %z = for %zero, %T, %one, %x {exits = False} : array<f64, [?], c> (%i: i64, %u: array<f64, [?], c>) {
    %m = dim %u {axis = 0} : i64
    %y = map %m, %u {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%k: i64, %e: f64) {
      %s = sin %e : f64
      yield %s
    }
    yield %y
  }
  %r = map %n, %z {rank = 1, kinds = ("add",)} : f64 (%i_1: i64, %e_2: f64) {
    yield %e_2
  }
  return %r
}
""",
    "tri": """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %s0 = const {value = 0.3} : f64
  %z = for %zero, %n, %one, %s0 {exits = False} : f64 (%i: i64, %u: f64) {
    %v = for %zero, %i, %one, %u {exits = False} : f64 (%j: i64, %w: f64) {
      %a = load %x, %j : f64
      %b = fmul %a, %w : f64
      %c = sin %b : f64
      yield %c
    }
    %vv = fmul %v, %u : f64
    yield %vv
  }
  %cnd = flt %z, %s0 : bool
  %rr = if %cnd : f64 {
    %q = for %zero, %n, %one, %z {exits = False} : f64 (%j_1: i64, %w_2: f64) {
      %a_3 = load %x, %j_1 : f64
      %b_4 = fmul %a_3, %w_2 : f64
      %c_5 = cos %b_4 : f64
      yield %c_5
    }
    yield %q
  } {
    yield %z
  }
  return %rr
}
""",
    "while": """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %s0 = const {value = 0.3} : f64
  %z, %ii, %cnt = while %s0, %zero : f64, i64, i64 (%u: f64, %i: i64) {
    %a = load %x, %i : f64
    %b = fmul %a, %u : f64
    %c = cos %b : f64
    %i1 = iadd %i, %one : i64
    %go = ilt %i1, %n : bool
    yield %go, %c, %i1
  }
  return %z
}
""",
    "slices": """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %minus = const {value = -1} : i64
  %m = isub %n, %one : i64
  %a = slice %x, %one, %m, %one : array<f64, [?], strided>
  %b = slice %x, %zero, %m, %one : array<f64, [?], strided>
  %c = slice %x, %m, %n, %minus : array<f64, [?], strided>
  %r = map %m, %a, %b {rank = 1, kinds = ("add",)} : f64 (%i: i64, %e: f64, %g: f64) {
    %d = fsub %e, %g : f64
    %q = fmul %d, %d : f64
    yield %q
  }
  %w = map %n, %c, %x {rank = 1, kinds = ("add",)} : f64 (%j: i64, %h: f64, %k: f64) {
    %s = sin %h : f64
    %t = fmul %s, %k : f64
    yield %t
  }
  %z = fadd %r, %w : f64
  return %z
}
""",
    "broadcast": """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %two = const {value = 2} : i64
  %a = slice %x, %two, %one, %one : array<f64, [?], strided>
  %w = broadcast %a, %n : array<f64, [?], strided>
  %r = map %n, %x, %w {rank = 1, kinds = ("add",)} : f64 (%i: i64, %e: f64, %g: f64) {
    %q = fmul %e, %g : f64
    %s = sin %q : f64
    yield %s
  }
  return %r
}
""",
    "arrayphi": """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %a = load %x, %zero : f64
  %b = load %x, %one : f64
  %c = fgt %a, %b : bool
  %y = if %c : array<f64, [?], c> {
    %t = map %n, %x {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%i: i64, %e: f64) {
      %q = fmul %e, %a : f64
      yield %q
    }
    yield %t
  } {
    yield %x
  }
  %r = map %n, %y {rank = 1, kinds = ("add",)} : f64 (%j: i64, %g: f64) {
    %s = sin %g : f64
    yield %s
  }
  %l = load %y, %one : f64
  %z = fmul %r, %l : f64
  return %z
}
""",
    "shift": """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %m = isub %n, %one : i64
  %y = map %n, %x {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%i: i64, %e: f64) {
    %s = exp %e : f64
    yield %s
  }
  %old = load %y, %one : f64
  %left = map %n, %y {rank = 1, kinds = ("add",)} : f64 (%k: i64, %h: f64) {
    %h2 = fmul %h, %h : f64
    yield %h2
  }
  %to = slice %y, %one, %m, %one : array<f64, [?], strided>
  %from = slice %y, %zero, %m, %one : array<f64, [?], strided>
  assign %to, %from {mode = "set"}
  assign %from, %to {mode = "add"}
  %r = map %n, %y, %x {rank = 1, kinds = ("add",)} : f64 (%j: i64, %g: f64, %u: f64) {
    %q = fmul %g, %u : f64
    yield %q
  }
  %z = fmul %r, %old : f64
  %zz = fadd %z, %left : f64
  return %zz
}
""",
    "nested": """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %three = const {value = 3} : i64
  %two = const {value = 2} : i64
  %m1 = const {value = -1} : i64
  %s0 = const {value = 0.5} : f64
  %a, %b = for %zero, %n, %two, %s0, %s0 {exits = False} : f64, f64 (%i: i64, %u: f64, %v: f64) {
    %p, %q = for %three, %zero, %m1, %u, %v {exits = False} : f64, f64 (%j: i64, %uu: f64, %vv: f64) {
      %f = itof %j : f64
      %l = load %x, %i : f64
      %t = fmul %uu, %l : f64
      %w = sin %t : f64
      %y = fmul %w, %vv : f64
      %yy = fadd %y, %f : f64
      yield %vv, %yy
    }
    %pq = fmul %p, %q : f64
    yield %pq, %q
  }
  %z = fadd %a, %b : f64
  return %z
}
""",
    "local": """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %s0 = const {value = 0.5} : f64
  %r = for %zero, %n, %one, %s0 {exits = False} : f64 (%i: i64, %u: f64) {
    %w = alloc %n {dtype = !f64, fill = 0.0} : array<f64, [?], c>
    for %zero, %n, %one {exits = False} (%j: i64) {
      %l = load %x, %j : f64
      %t = fmul %l, %u : f64
      store %w, %j, %t
      yield
    }
    %a = load %w, %i : f64
    %y = map %n, %w {rank = 1, kinds = ("add",)} : f64 (%k: i64, %h: f64) {
      %hh = sin %h : f64
      yield %hh
    }
    %z = fmul %a, %y : f64
    yield %z
  }
  return %r
}
""",
    "exits": """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %one = const {value = 1} : i64
  %zero = const {value = 0} : i64
  %s0 = const {value = 0.5} : f64
  %big = const {value = 2.0} : f64
  %r, %c = for %zero, %n, %one, %s0 {exits = True} : f64, i64 (%i: i64, %u: f64) {
    %l = load %x, %i : f64
    %ul = fmul %u, %l : f64
    %e = exp %ul : f64
    %go = flt %e, %big : bool
    yield %go, %e
  }
  %f = itof %c : f64
  %z = fmul %r, %f : f64
  return %z
}
""",
    "swap": """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %seven = const {value = 7} : i64
  %half = const {value = 0.5} : f64
  %m = isub %n, %one : i64
  %a = map %n, %x {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%i: i64, %e: f64) {
    yield %e
  }
  %b = map %n, %x {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%i0: i64, %e0: f64) {
    %s0 = sin %e0 : f64
    yield %s0
  }
  %u, %v = for %zero, %seven, %one, %a, %b {exits = False} : array<f64, [?], c>, array<f64, [?], c> (%t: i64, %p: array<f64, [?], c>, %q: array<f64, [?], c>) {
    for %one, %n, %one {exits = False} (%k: i64) {
      %j = isub %k, %one : i64
      %l = load %p, %j : f64
      %r = load %p, %k : f64
      %lr = fmul %l, %r : f64
      %s = sin %lr : f64
      store %q, %k, %s
      yield
    }
    yield %q, %p
  }
  %last = load %u, %m : f64
  %sum = map %n, %v {rank = 1, kinds = ("add",)} : f64 (%i1: i64, %e1: f64) {
    %ee = fmul %e1, %e1 : f64
    yield %ee
  }
  %z = fmul %last, %sum : f64
  return %z
}
""",
    "choose": """
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %half = const {value = 0.55} : f64
  %a = alloc %n {dtype = !f64, fill = 1.0} : array<f64, [?], c>
  %b = alloc %n {dtype = !f64, fill = 2.0} : array<f64, [?], c>
  for %zero, %n, %one {exits = False} (%k: i64) {
    %l = load %x, %k : f64
    %c = flt %l, %half : bool
    %w = if %c : array<f64, [?], c> {
      yield %a
    } {
      yield %b
    }
    %old = load %w, %zero : f64
    %p = fmul %old, %l : f64
    %s = sin %p : f64
    store %w, %zero, %s
    store %w, %k, %p
    yield
  }
  %sum = map %n, %a, %b {rank = 1, kinds = ("add",)} : f64 (%i1: i64, %e1: f64, %e2: f64) {
    %ee = fmul %e1, %e2 : f64
    yield %ee
  }
  return %sum
}
""",
}

# Calls that are not inlined: the callee's two halves share the tape with the caller's loops.
CALLS = """
func @g(%a: f64, %x: array<f64, [?], c>, %k: i64) -> (f64, array<f64, [?], c>) {inline = False} {
  %n = dim %x {axis = 0} : i64
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %r = for %zero, %k, %one, %a {exits = False} : f64 (%i: i64, %u: f64) {
    %l = load %x, %i : f64
    %t = fmul %u, %l : f64
    %s = sin %t : f64
    yield %s
  }
  %y = map %n, %x {rank = 1, kinds = ("elem",)} : array<f64, [?], c> (%j: i64, %e: f64) {
    %q = fmul %e, %r : f64
    %qq = exp %q : f64
    yield %qq
  }
  %w = fmul %r, %a : f64
  return %w, %y
}
func @h(%a: f64, %x: array<f64, [?], c>) -> (f64) {inline = False} {
  %two = const {value = 2} : i64
  %p, %y = call %a, %x, %two {callee = "g"} : f64, array<f64, [?], c>
  %n = dim %x {axis = 0} : i64
  %m = dim %y {axis = 0} : i64
  %s = map %n, %x {rank = 1, kinds = ("add",)} : f64 (%j: i64, %e: f64) {
    %ee = fmul %e, %e : f64
    yield %ee
  }
  %z = fmul %s, %p : f64
  %c = flt %z, %a : bool
  %out = if %c : f64 {
    %q, %yy = call %z, %x, %two {callee = "g"} : f64, array<f64, [?], c>
    yield %q
  } {
    %cz = cos %z : f64
    yield %cz
  }
  return %out
}
func @f(%x: array<f64, [?], c>) -> (f64) {
  %n = dim %x {axis = 0} : i64
  %zero = const {value = 0} : i64
  %one = const {value = 1} : i64
  %s0 = const {value = 0.5} : f64
  %r = for %zero, %n, %one, %s0 {exits = False} : f64 (%i: i64, %u: f64) {
    %p, %y = call %u, %x, %i {callee = "g"} : f64, array<f64, [?], c>
    %q = call %p, %x {callee = "h"} : f64
    %v = fadd %p, %q : f64
    yield %v
  }
  return %r
}
"""
