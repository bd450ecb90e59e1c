"""The 44 differentiable problems of NPBench, restated in NumPy as people write it: `make npbench`.

Only the decorator and the annotations tell these functions from plain NumPy. The problems are those of PolyBench, of
weather models, deep learning and physics that NPBench collected; the text is our own.
"""
