"""One hop further."""

OFFSET = 10


def reexported(v):
    return v - OFFSET
