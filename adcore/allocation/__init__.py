"""Memory of compiled code: where it is allocated and how much, stated once. Code generation allocates from these statements, and the reference
interpreter turns them into predictions for given arguments.
"""
