# `make demo` and `make test` need make, Python 3.11 or later and the network; neither needs a compiler or a linker.

PYTHON ?= python3
PYTEST_ARGS ?= -n 2 --dist loadfile
.DEFAULT_GOAL := help
.PHONY: help demo test test-memory lint bench npbench fuzz fuzz-mutants fuzz-allocations fuzz-lint coverage docs clean

DEV := .venv/dev
DEMO := .venv/demo
IN_DEV := $(DEV)/bin/python
IN_DEMO := "$(CURDIR)/$(DEMO)/bin/python"
EXAMPLE := examples/hare_lynx

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-23s %s\n", $$1, $$2 }'

demo: ## Build adcore and examples/hare_lynx as users do, in isolation, and run the fit
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "adcore needs Python 3.11 or later: make demo PYTHON=python3.12")'
	@rm -rf build dist $(EXAMPLE)/build $(EXAMPLE)/src/*.egg-info $(DEMO)
	$(PYTHON) -m venv $(DEMO)
	$(IN_DEMO) -m pip --quiet wheel --no-deps --wheel-dir dist .
	@# dist/ stands in for the package index, and the constraint for a release; both hold in the isolated build as well.
	@cd dist && ls adcore-*.whl | sed 's/^adcore-\([^-]*\)-.*/adcore == \1/' > constraints.txt
	cd dist && $(PIP_IN_DEMO) wheel --no-deps --wheel-dir . $(FROM_DIST) "$(CURDIR)/$(EXAMPLE)"
	cd dist && $(PIP_IN_DEMO) install --only-binary :all: $(FROM_DIST) hare_lynx-*.whl
	@rm -rf build $(EXAMPLE)/build $(EXAMPLE)/src/*.egg-info
	@# From outside the checkout: what runs is what was installed.
	cd dist && $(IN_DEMO) -m hare_lynx

# Newer pips read the second variable for isolated builds, older ones the first.
PIP_IN_DEMO = PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(IN_DEMO) -m pip --quiet
FROM_DIST = --find-links "$(CURDIR)/dist"

test: $(DEV)/installed ## Run all tests
	$(IN_DEV) -m pytest $(PYTEST_ARGS)

lint: $(DEV)/installed ## Check style and types
	$(IN_DEV) -m ruff check .
	$(IN_DEV) -m ruff format --check .
	MYPYPATH=$(DEV)/path $(IN_DEV) -m mypy -p adcore -p buildplug -p adcore_lsp

bench: $(DEV)/installed ## Measure functions and gradients against C written by hand
	$(IN_DEV) benchmarks/run.py

npbench: $(DEV)/installed ## Compile NPBench's kernels from plain NumPy, check and measure them
	$(IN_DEV) -m benchmarks.npbench.run $(KERNELS)

N ?= 1000
THROUGH ?= interpreted
fuzz: $(DEV)/installed ## Compare random programs with CPython: make fuzz N=20000, make fuzz N=2000 THROUGH=compiled
	PYTHONPATH=.:tests $(IN_DEV) -m fuzz --programs $(N) --seed $${SEED:-1} --$(THROUGH) --processes 2

fuzz-mutants: $(DEV)/installed ## Inject faults into the engine, and count how many the random programs find
	PYTHONPATH=.:tests $(IN_DEV) -m fuzz.mutants --programs 2000 --processes 2

fuzz-lint: $(DEV)/installed ## Lint every truncation of the example and 10,000 random edits
	cd tests && PYTHONPATH=..:. ../$(IN_DEV) -m lint_fuzz --edits 10000 --seed $${SEED:-1}

fuzz-allocations: $(DEV)/installed ## Compare the allocations of random programs with what was predicted: make fuzz-allocations N=500
	cd tests && PYTHONPATH=..:. ../$(IN_DEV) -m counted --fuzz $(N) --seed $${SEED:-1}

test-memory: $(DEV)/installed ## All test functions between guard pages, 10,000 times, and under valgrind
	cd tests && PYTHONPATH=..:. ../$(IN_DEV) -m memory_checks

coverage: $(DEV)/installed ## Run all tests, and show the lines that none of them reaches
	$(IN_DEV) -m pytest $(PYTEST_ARGS) --cov=adcore --cov=buildplug --cov=lsp --cov-report=term-missing:skip-covered

docs: $(DEV)/installed ## Build the manual: docs/_build/index.html
	$(IN_DEV) -m pip --quiet install '.[docs]'
	$(IN_DEV) docs/generate.py
	$(IN_DEV) -m sphinx -W --keep-going -q docs docs/_build

clean: ## Remove everything that these targets make
	rm -rf build dist .venv docs/_build $(EXAMPLE)/build $(EXAMPLE)/src/*.egg-info adcore.egg-info

$(DEV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "adcore needs Python 3.11 or later: make test PYTHON=python3.12")'
	rm -rf build $(DEV)
	$(PYTHON) -m venv $(DEV)
	$(IN_DEV) -m pip --quiet install --upgrade pip
	$(IN_DEV) -m pip --quiet install --editable '.[dev]'
	@# `lsp` is installed as `adcore_lsp`; mypy does not follow editable installs, so it is shown the folder.
	mkdir -p $(DEV)/path && ln -s ../../../lsp $(DEV)/path/adcore_lsp
	touch $@
