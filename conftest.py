"""Wires the harness's pytest plugin, nothing else."""

pytest_plugins = ["testing.plugin"]
