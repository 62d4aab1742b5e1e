# What one types to work on Tidegate. Needs make and Python 3.11 or later; the rest is brought along.

PYTHON ?= python3
ENV ?= dev
REGION ?= us-east-1
DIR ?= .local

VENV := .venv
PY := $(VENV)/bin/python
UV := UV_PYTHON_DOWNLOADS=never $(VENV)/bin/uv --quiet
NODE := $(PY) -m cli.local.node
CDK := $(NODE) cdk
LOCK := $(UV) pip compile --universal --python-version 3.11 --python $(PY) --generate-hashes \
	--no-emit-index-url --no-header --no-annotate $(LOCK_FLAGS)

LOCAL_CONTEXT := -c redis_url=redis+cluster://127.0.0.1:6379 -c vendor_url=http://127.0.0.1:9100

.DEFAULT_GOAL := help
.PHONY: help setup demo up down test bench check synth deploy lock

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.synced node_modules/.installed ## Bring what the other targets need (they call it)

demo: setup ## Run the whole pipeline locally and show what it did
	$(PY) -m cli demo

up: setup ## Start the local stack and leave it running (DIR=.local)
	@$(PY) -m cli local up --dir $(DIR)

down: ## Stop the local stack
	@if [ -x $(PY) ]; then $(PY) -m cli local down --dir $(DIR); else echo "Nothing is set up."; fi

test: setup ## Run all tests, those of the deployed local stack included
	$(PY) -m pytest -n 2 --no-loadscope-reorder

bench: setup ## Measure: all pairs of faults, kills, outages, … (PARTS="quota storm"; some hours for all)
	$(PY) -m bench $(PARTS)

check: setup ## Lint, formatting, types, direction of imports, house rules
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	PYTHONPATH=.:functions:layers/tidegate/python $(VENV)/bin/lint-imports
	$(PY) -m cli.house

synth: setup ## Synthesise every environment, without AWS; warnings are shown
	@mkdir -p cdk.out
	@for env in dev staging prod "local $(LOCAL_CONTEXT)"; do \
		set -- $$env; name=$$1; echo "synth $$name"; \
		$(CDK) synth --quiet --no-lookups --no-notices --output cdk.out/$$name -c env=$$@ \
			>cdk.out/$$name.log 2>&1 || { cat cdk.out/$$name.log; exit 1; }; \
		sed -n '/^WARNING /p' cdk.out/$$name.log; \
	done

deploy: setup ## Deploy to AWS (ENV=dev|staging|prod REGION=us-east-1, with your AWS credentials)
	$(CDK) deploy --all -c env=$(ENV) -c region=$(REGION)

lock: setup ## Pin dependencies anew; LOCK_FLAGS=--upgrade for newer ones
	$(LOCK) requirements/bootstrap.in -o requirements/bootstrap.txt
	$(LOCK) requirements/peers.in -o requirements/peers.txt
	$(LOCK) pyproject.toml -o requirements/runtime.txt
	$(LOCK) pyproject.toml --group dev -c requirements/runtime.txt -o requirements/dev.txt

$(VENV)/.bootstrapped: requirements/bootstrap.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else \
		"Python 3.11 or later is needed: make PYTHON=/path/to/python3 ...")'
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(VENV)/.synced: requirements/dev.txt $(VENV)/.bootstrapped
	$(UV) pip sync --python $(PY) --require-hashes $<
	@touch $@

node_modules/.installed: package-lock.json $(VENV)/.synced
	$(NODE) npm ci --no-audit --no-fund --loglevel=error
	@touch $@
