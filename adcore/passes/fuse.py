from adcore.ir.core import Function, Module
def fuse(function: Function, module: Module) -> Function:
    return function
