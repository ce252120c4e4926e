"""The commands of ``export-harness``, one module each, found by being here.

A module gives `NAME`, `SUMMARY`, `add_arguments` and `run`; see `testing.commands.base.Command`.
It imports what is slow to import only where it runs.
"""
