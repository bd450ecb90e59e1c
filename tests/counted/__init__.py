"""Predicted allocations against measured ones: every corpus of functions, compiled as checking builds, in a process with the counter.

``python -m counted CORPUS...`` (the process starts itself again with the counter preloaded).
"""
