"""``doctor``: every op of a model, and what becomes of it in a backend's trace.

`target` runs in a child and asks the backend; `examining` runs the children and puts together what
came, also from one that died. `findings` is that; `text` and `markdown` tell it; `all_classes` and
`journal` do it for every class.
"""
