"""The editor door: a language server over stdio. Only this package imports pygls."""

from __future__ import annotations


def main() -> int:
    """Serve until the client says `exit` or goes away; the exit code."""
    from adcore_lsp.stdio import serve

    return serve()
