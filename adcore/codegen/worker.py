"""The child process that runs LLVM. It imports nothing of adcore: the parent starts it by path, isolated, and names
where llvmlite is.

Input: one line of JSON (``stage``, ``cpu``, ``features``, ``path``), then LLVM text. Output: object code or text. A
fatal error of LLVM ends this process and not the parent; an error that LLVM reports ends it with status 3 and the
message on standard error.
"""

from __future__ import annotations

import json
import sys
from typing import Any

REPORTED = 3  # exit status of an error that LLVM described


def main() -> int:
    header, _, text = sys.stdin.buffer.read().partition(b"\n")
    job = json.loads(header)
    sys.path.append(job["path"])
    try:
        sys.stdout.buffer.write(run(job, text.decode()))
    except RuntimeError as error:  # what llvmlite raises for text that does not parse or verify
        sys.stderr.write(str(error))
        return REPORTED
    return 0


def run(job: dict[str, Any], text: str) -> bytes:
    import llvmlite.binding as llvm  # type: ignore[import-untyped,unused-ignore]  # it has no stubs; users check adcore with their own settings

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    module.verify()
    target = llvm.Target.from_triple(module.triple)
    cpu, features = job["cpu"], job["features"]
    if cpu == "native":
        cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    machine = target.create_target_machine(cpu=cpu, features=features, opt=3, reloc="pic", codemodel="small")
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    if job["stage"] == "llvm":
        return str(module).encode()
    if job["stage"] == "asm":
        return str(machine.emit_assembly(module)).encode()
    return bytes(machine.emit_object(module))


if __name__ == "__main__":
    raise SystemExit(main())
