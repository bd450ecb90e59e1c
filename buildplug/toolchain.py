"""From an object file to a shared object: built-in on Linux x86-64, elsewhere with the compiler that built Python.

The built-in way needs nothing on the machine and makes equal bytes everywhere; it is taken wherever it can be.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

from buildplug.link import LinkError, link


def make_shared_object(obj: bytes, init: str) -> bytes:
    """The shared object that offers `init`, the module's init function. Raises `LinkError` with what is missing."""
    platform = sysconfig.get_platform()  # obeys _PYTHON_HOST_PLATFORM, so it is right when cross-compiling
    if platform == "linux-x86_64":
        return link(obj, export=[init])
    return _link_with_compiler(obj, platform)


def _link_with_compiler(obj: bytes, platform: str) -> bytes:
    # LDSHARED is the compiler with the flags for extension modules: `cc -shared`, `clang -bundle -undefined ...`.
    command = shlex.split(os.environ.get("LDSHARED") or sysconfig.get_config_var("LDSHARED") or "cc -shared")
    if shutil.which(command[0]) is None:
        raise LinkError(
            f"on {platform} a C compiler is needed to link the extension, and {command[0]} is not there; "
            "install it, or set LDSHARED"
        )
    # Constant names in a folder of its own: no path of this machine gets into the output.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "module.o").write_bytes(obj)
        arguments = [*command, "module.o", "-o", "module.so", "-lm"]
        done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode != 0:
            raise LinkError(f"{shlex.join(arguments)} failed: {done.stderr.strip() or done.stdout.strip()}")
        return Path(folder, "module.so").read_bytes()
