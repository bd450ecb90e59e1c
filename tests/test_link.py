"""The built-in linker: what it makes is loaded, called, and held against `ld -shared` and two other ELF tools.

eu-elflint (Debian package `elfutils`), `ld` and `readelf` (`binutils`) are the referees. Where one is missing its tests
are skipped on a developer's machine, and fail when `CI` is set: a check that never runs must not look green.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from buildplug.link import LinkError, link
from buildplug.link.reader import read_object

llvm = pytest.importorskip("llvmlite.binding")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="makes Linux shared objects")

HEADER = 'target triple = "x86_64-unknown-linux-gnu"\n'

CALLS = (
    HEADER
    + """
@table = internal constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5]
@counter = internal global i64 40
@names = internal constant [2 x ptr] [ptr @table, ptr @counter]
@cells = internal global [2 x ptr] [ptr @counter, ptr getelementptr (i8, ptr @table, i64 8)]
@scratch = internal global [1000 x double] zeroinitializer
@hook = global ptr @malloc
declare double @exp(double) nonlazybind
declare double @sin(double)
declare ptr @malloc(i64) nonlazybind
declare void @free(ptr) nonlazybind
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define double @add(double %a, double %b) uwtable {
  %c = fadd double %a, %b
  %d = fadd double %c, 0x3FE5555555555555
  ret double %d
}
define double @through_got(double %x) uwtable {
  %y = call double @exp(double %x)
  ret double %y
}
define double @through_stub(double %x) uwtable {
  %y = call double @sin(double %x)
  %z = call double @helper(double %y)
  ret double %z
}
define internal double @helper(double %x) noinline uwtable {
  %y = fmul double %x, 2.0
  ret double %y
}
define double @element(i64 %i) {
  %p = getelementptr double, ptr @table, i64 %i
  %v = load double, ptr %p
  ret double %v
}
define double @second(i64 %i) {
  %q = getelementptr ptr, ptr @cells, i64 1
  %p = load volatile ptr, ptr %q
  %e = getelementptr double, ptr %p, i64 %i
  %v = load double, ptr %e
  ret double %v
}
define i64 @count() {
  %q = getelementptr ptr, ptr @names, i64 1
  %p = load volatile ptr, ptr %q
  %a = load i64, ptr %p
  %b = add i64 %a, 1
  store i64 %b, ptr %p
  ret i64 %b
}
define double @remember(i64 %i, double %v) {
  %p = getelementptr double, ptr @scratch, i64 %i
  %old = load volatile double, ptr %p
  store volatile double %v, ptr %p
  ret double %old
}
define i64 @clear(i64 %n) uwtable {
  %f = load volatile ptr, ptr @hook
  %p = call ptr %f(i64 %n)
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %n, i1 false)
  %v = load volatile i64, ptr %p
  call void @free(ptr %p)
  ret i64 %v
}
"""
)
CALLS_EXPORTS = ("add", "through_got", "through_stub", "element", "second", "count", "remember", "clear", "hook")

DEBUG = (
    HEADER
    + """
define double @twice(double %x) uwtable !dbg !4 {
  %y = fmul double %x, 2.0, !dbg !7
  ret double %y, !dbg !7
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_Python, file: !1, producer: "t", emissionKind: FullDebug)
!1 = !DIFile(filename: "model.py", directory: "pkg")
!2 = !{i32 7, !"Dwarf Version", i32 4}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "twice", scope: !1, file: !1, type: !5, spFlags: DISPFlagDefinition, unit: !0)
!5 = !DISubroutineType(types: !6)
!6 = !{null}
!7 = !DILocation(line: 12, column: 5, scope: !4)
"""
)

MINIMAL = HEADER + "define i64 @one() nounwind {\n ret i64 1\n}\n"


@functools.cache
def compile_ir(text: str) -> bytes:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple("x86_64-unknown-linux-gnu")
    machine = target.create_target_machine(cpu="x86-64", opt=3, reloc="pic", codemodel="small")
    module = llvm.parse_assembly(text)
    module.verify()
    return bytes(machine.emit_object(module))


def many_functions(count: int) -> tuple[str, list[str]]:
    names = [f"f{i}" for i in range(count)]
    body = "declare double @exp(double) nonlazybind\n" + "".join(
        f"define double @{name}(double %x) uwtable {{\n %y = call double @exp(double %x)\n"
        f" %z = fadd double %y, {i}.0\n ret double %z\n}}\n"
        for i, name in enumerate(names)
    )
    return HEADER + body, names


MANY, MANY_NAMES = many_functions(200)
OBJECTS = {
    "calls": (CALLS, CALLS_EXPORTS),
    "debug": (DEBUG, ("twice",)),
    "many": (MANY, tuple(MANY_NAMES)),
    "minimal": (MINIMAL, ("one",)),
}


def referee(name: str) -> str:
    """The path of an external checker; without it skip, but fail in CI."""
    path = shutil.which(name) or shutil.which(name, path=os.path.dirname(sys.executable))
    if path is None:
        complain = pytest.fail if os.environ.get("CI") else pytest.skip
        complain(f"{name} is not installed (elfutils, binutils, patchelf): its checks did not run")
    return path


def run(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def linked(tmp_path: Path, name: str) -> Path:
    text, exports = OBJECTS[name]
    path = tmp_path / f"{name}.so"
    path.write_bytes(link(compile_ir(text), export=exports))
    return path


def system_linked(tmp_path: Path, name: str) -> Path:
    text, exports = OBJECTS[name]
    obj, out, script = tmp_path / "m.o", tmp_path / "ld.so", tmp_path / "m.map"
    obj.write_bytes(compile_ir(text))
    script.write_text("{ global: " + " ".join(f"{e};" for e in exports) + " local: *; };")
    libraries = ["-l:libm.so.6", "-l:libc.so.6"]
    search = [
        f"-L{folder}" for folder in ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64")
    ]
    run(referee("ld"), "-shared", "--no-as-needed", f"--version-script={script}", *search, obj, *libraries, "-o", out)
    return out


def answers(path: Path) -> list[float]:
    """What the functions of CALLS return when called through `path`, state included."""
    library = ctypes.CDLL(str(path))
    double, integer = ctypes.c_double, ctypes.c_int64

    def function(name: str, result: type, *arguments: type) -> Callable[..., float]:
        found = getattr(library, name)
        found.restype, found.argtypes = result, arguments
        return found  # type: ignore[no-any-return]

    remember = function("remember", double, integer, double)
    return [
        function("add", double, double, double)(1.0, 2.0),
        function("through_got", double, double)(0.7),
        function("through_stub", double, double)(0.7),
        function("element", double, integer)(2),
        function("second", double, integer)(2),
        function("count", integer)(),
        function("count", integer)(),
        remember(999, 3.0),
        remember(999, 4.0),
        remember(0, 5.0),
        function("clear", integer, integer)(1000),
    ]


EXPECTED = [3.0 + 2.0 / 3.0, math.exp(0.7), 2.0 * math.sin(0.7), 3.5, 4.5, 41, 42, 0.0, 3.0, 0.0, 0]


def dynamic_symbols(path: Path) -> set[tuple[str, str, str]]:
    """(name, type, defined or not), versions left out."""
    rows = run(referee("readelf"), "--dyn-syms", "-W", path).splitlines()
    fields = [row.split() for row in rows if row.strip()[:1].isdigit()]
    return {
        (f[7].split("@")[0], f[3] if f[6] != "UND" else "", "undefined" if f[6] == "UND" else "defined")
        for f in fields
        if len(f) > 7
    }


def test_functions_data_constants_and_libraries_work(tmp_path: Path) -> None:
    assert answers(linked(tmp_path, "calls")) == pytest.approx(EXPECTED, rel=1e-15)


def test_two_hundred_functions_each_answer(tmp_path: Path) -> None:
    library = ctypes.CDLL(str(linked(tmp_path, "many")))
    for i, name in enumerate(MANY_NAMES):
        function = getattr(library, name)
        function.restype, function.argtypes = ctypes.c_double, (ctypes.c_double,)
        assert function(0.0) == 1.0 + i


def test_answers_equal_those_of_the_system_linker(tmp_path: Path) -> None:
    assert answers(linked(tmp_path, "calls")) == answers(system_linked(tmp_path, "calls"))


@pytest.mark.parametrize("name", OBJECTS)
def test_dynamic_symbols_equal_those_of_the_system_linker(tmp_path: Path, name: str) -> None:
    ours = dynamic_symbols(linked(tmp_path, name))
    assert ours == dynamic_symbols(system_linked(tmp_path, name))
    assert {symbol for symbol, _, state in ours if state == "defined"} == set(OBJECTS[name][1])


@pytest.mark.parametrize("name", OBJECTS)
def test_elflint_finds_nothing(tmp_path: Path, name: str) -> None:
    assert run(referee("eu-elflint"), "--gnu-ld", linked(tmp_path, name)) == "No errors\n"


@pytest.mark.parametrize("command", [["strip"], ["strip", "--strip-debug"], ["eu-strip"]])
@pytest.mark.parametrize("name", ["calls", "debug"])
def test_strip_leaves_it_working(tmp_path: Path, name: str, command: list[str]) -> None:
    path = linked(tmp_path, name)
    run(referee(command[0]), *command[1:], path)
    if name == "calls":
        assert answers(path) == pytest.approx(EXPECTED, rel=1e-15)
    else:
        ctypes.CDLL(str(path)).twice  # noqa: B018
    assert "debug_info" not in run(referee("readelf"), "-SW", path)


@pytest.mark.parametrize(
    "change", [["--set-rpath", "$ORIGIN/../libs"], ["--add-needed", "libpthread.so.0"], ["--set-soname", "x.so"]]
)
def test_patchelf_leaves_it_working(tmp_path: Path, change: list[str]) -> None:
    path = linked(tmp_path, "calls")
    run(referee("patchelf"), *change, path)
    assert change[1] in run(referee("readelf"), "-dW", path)
    assert answers(path) == pytest.approx(EXPECTED, rel=1e-15)


def test_debug_information_names_file_and_line(tmp_path: Path) -> None:
    path = linked(tmp_path, "debug")
    address = next(f.split()[1] for f in run(referee("readelf"), "-sW", path).splitlines() if f.endswith(" twice"))
    assert run(referee("addr2line"), "-e", path, address).strip().endswith("pkg/model.py:12")


def test_unwinders_find_the_record_of_every_function(tmp_path: Path) -> None:
    """By asking libgcc, which searches the sorted table of .eh_frame_hdr for an address within the function."""
    try:
        find = ctypes.CDLL("libgcc_s.so.1")._Unwind_Find_FDE
    except OSError:
        pytest.skip("no libgcc_s.so.1")
    find.restype, find.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_void_p)
    library = ctypes.CDLL(str(linked(tmp_path, "many")))
    for name in MANY_NAMES:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        bases = (ctypes.c_void_p * 3)()  # text base, data base, start of the function
        assert address is not None
        assert find(address + 1, bases)
        assert bases[2] == address


def test_segments_are_protected(tmp_path: Path) -> None:
    text = run(referee("readelf"), "-lW", linked(tmp_path, "calls"))
    flags = {line.split()[0]: line for line in text.splitlines() if line.strip()[:4] in ("LOAD", "GNU_")}
    assert " RW  " in flags["GNU_STACK"]
    assert "GNU_RELRO" in flags
    assert "RWE" not in text


def test_the_table_of_addresses_is_read_only_once_loaded(tmp_path: Path) -> None:
    """Every page of the RELRO segment must have lost its write permission."""
    path = linked(tmp_path, "calls")
    library = ctypes.CDLL(str(path))
    assert library.add is not None
    mapped = [line.split()[1] for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith(str(path))]
    assert mapped == ["r--p", "r-xp", "r--p", "rw-p"]


def test_equal_input_gives_equal_bytes() -> None:
    assert link(compile_ir(CALLS), export=CALLS_EXPORTS) == link(compile_ir(CALLS), export=CALLS_EXPORTS)


def test_soname_and_needed_are_as_asked(tmp_path: Path) -> None:
    path = tmp_path / "m.so"
    path.write_bytes(link(compile_ir(CALLS), export=["add"], needed=["libm.so.6"], soname="m.so"))
    text = run(referee("readelf"), "-dW", path)
    assert "soname: [m.so]" in text
    assert "[libm.so.6]" in text
    assert "libc.so.6" not in text


def test_a_predicate_chooses_the_exports(tmp_path: Path) -> None:
    path = tmp_path / "m.so"
    path.write_bytes(link(compile_ir(CALLS), export=lambda name: name.startswith("through")))
    library = ctypes.CDLL(str(path))
    assert library.through_got
    with pytest.raises(AttributeError):
        library.add  # noqa: B018


def test_a_missing_export_is_named() -> None:
    with pytest.raises(LinkError, match="does not define PyInit_m, which"):
        link(compile_ir(MINIMAL), export=["PyInit_m", "one"])


REFUSED = {
    "thread-local storage": "@t = thread_local global i64 1\ndefine ptr @f() {\n ret ptr @t\n}",
    "constructors": (
        "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] "
        "[{ i32, ptr, ptr } { i32 1, ptr @f, ptr null }]\n"
        "define void @f() {\n ret void\n}"
    ),
    "COMDAT groups": "$f = comdat any\ndefine void @f() comdat {\n ret void\n}",
    "ifunc": "@f = ifunc i64 (), ptr @choose\ndefine internal ptr @choose() {\n ret ptr null\n}",
    "common": "@f = common global i64 0",
    "alignment 8192": "@f = global i64 1, align 8192",
    "1 GiB": "@f = global [200000000 x double] zeroinitializer",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_supported_is_refused_by_name(what: str) -> None:
    with pytest.raises(LinkError, match=what):
        link(compile_ir(HEADER + REFUSED[what]), export=["f"])


def compile_static(text: str) -> bytes:
    target = llvm.Target.from_triple("x86_64-unknown-linux-gnu")
    machine = target.create_target_machine(cpu="x86-64", opt=3, reloc="static", codemodel="small")
    return bytes(machine.emit_object(llvm.parse_assembly(HEADER + text)))


@pytest.mark.parametrize(
    "text",
    [
        "@g = external dso_local global i64\ndefine i64 @f() {\n %v = load i64, ptr @g\n ret i64 %v\n}",
        "@g = external global i64\n@t = internal constant [1 x ptr] [ptr @g]\n"
        "define ptr @f(i64 %i) {\n %p = getelementptr ptr, ptr @t, i64 %i\n %v = load ptr, ptr %p\n ret ptr %v\n}",
        "@g = external global i64\n@t = constant [1 x ptr] [ptr @g]\ndefine void @f() {\n ret void\n}",
    ],
)
def test_code_that_is_not_position_independent_is_refused(text: str) -> None:
    compile_ir(MINIMAL)
    with pytest.raises(LinkError, match="compile as PIC"):
        link(compile_static(text), export=["f"])


@pytest.mark.parametrize("name", ["calls", "debug"])
def test_every_truncation_is_a_link_error(name: str) -> None:
    text, exports = OBJECTS[name]
    obj = compile_ir(text)
    for end in range(0, len(obj), 7):
        with pytest.raises(LinkError):
            link(obj[:end], export=exports)


@pytest.mark.parametrize("name", ["calls", "debug"])
def test_damage_is_a_link_error_or_harmless(name: str) -> None:
    """2000 objects with one to four wrong bytes: linked or refused, never another exception."""
    text, exports = OBJECTS[name]
    obj, chance = compile_ir(text), random.Random(20)
    refused = 0
    for _ in range(2000):
        damaged = bytearray(obj)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(obj))] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
        try:
            link(bytes(damaged), export=exports)
        except LinkError:
            refused += 1
    assert 100 < refused < 2000


def test_other_files_are_refused() -> None:
    for garbage in (b"", b"\x7fELF", b"!<arch>\n" * 20, bytes(64), b"\x7fELF\x02\x01\x01" + bytes(200)):
        with pytest.raises(LinkError):
            read_object(garbage)


def test_linking_is_linear_in_the_number_of_functions() -> None:
    """Growth of the output, not of the clock: stubs, slots and records must not be made twice."""
    sizes = [len(link(compile_ir(text), export=names)) for text, names in map(many_functions, (100, 200, 400))]
    assert sizes[2] - sizes[1] == pytest.approx(2 * (sizes[1] - sizes[0]), rel=0.25)
