"""Random programs over the source language: generated, run by CPython, the IR interpreter and compiled code, and compared.

``python -m fuzz --programs 1000 --seed 1`` from this package's parent folder; see ``run``.
"""
