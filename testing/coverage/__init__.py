"""What is covered: per model class its tests, its tiny model, its skips and the sweep's outcomes.

`declared`, `skipping`, `swept` and `selection` read what can be read without torch; `examining`
builds and runs tiny models in children, and `journal` keeps what they found. `record` puts it
together; `text` and `markdown` tell it.
"""
