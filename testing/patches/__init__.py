"""``patches``: the trace patches of all backends, the models of each, and whether these need it.

`applicable` says without torch which models a patch may be for. `inspecting` applies it to a tiny
model in a child, `auditing` exports that model without it, `report` tells both.
"""
