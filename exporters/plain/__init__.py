"""Forward passes exported by torch alone, where transformers has no exporters for this torch.

The model is flattened for it: a program of positional tensors, bound by the names of their leaves.
"""
