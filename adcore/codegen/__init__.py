"""Code generation: IR to LLVM text, and an object file made of it in a child process. See ``compile`` for the API."""
