# Two commands do everything on a fresh clone: `make demo` and `make test`.
# Set-up steps leave stamps in .venv and are skipped until what they depend on changes.

VENV := .venv
PYTHON := $(VENV)/bin/python
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock .cargo/config.toml
SCRIPT := packaging/eyelevel.data/scripts/eyelevel

.DEFAULT_GOAL := help
.PHONY: help setup demo wheel release test test-all check fuzz docs bench bench-path bench-browser bench-probe bench-replay bench-archive clean

help: ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: $(VENV)/.stamp-build ## system packages, the environment in .venv, the build

demo: setup ## two recorded sites over two networks and three stacks; about three minutes
	$(VENV)/bin/eyelevel demo

wheel: setup $(VENV)/.stamp-dev ## one file in dist/ for `pip install` on any Linux since 2018; its bill of materials beside it
	rm -f dist/eyelevel-*.whl dist/eyelevel-*.cdx.json
	$(PYTHON) -m scripts.shipping.portable_wheel $(FOR)
	$(PYTHON) -m scripts.shipping.sbom dist/eyelevel-*.whl

release: setup $(VENV)/.stamp-dev ## all that is published, in dist/release-VERSION, checked; uploads nothing
	scripts/release $(WITH)

test: setup $(VENV)/.stamp-dev ## a sample of every kind of test; scripts/test PATH[::NAME] runs one
	scripts/test

test-all: setup $(VENV)/.stamp-dev ## every test at its full counts
	scripts/test --all

check: setup $(VENV)/.stamp-dev ## format, lint, layers, dead code, licences, sources, spelling, links: what needs no run
	scripts/check

fuzz: ## every fuzz target for 20 seconds each: strange input to what reads input
	scripts/fuzz

docs: $(VENV)/.stamp-dev ## the documentation as a site in out/docs, whole and offline: open its index.html
	PYTHONPATH=python $(PYTHON) -m scripts.docs.docs_site

bench: setup ## the bounds of docs/benchmarks.md, measured on this machine
	$(PYTHON) -m benchmarks.run

bench-path: setup ## the emulated path against its bounds; PARTS="ping bulk" for some of it
	$(PYTHON) -m benchmarks.path $(PARTS)

bench-browser: setup ## the browser's bounds; PARTS="cost spread" for some, "capture" takes half an hour
	$(PYTHON) -m benchmarks.browser $(PARTS)

bench-replay: setup ## the replay servers beside nginx; PARTS="h1 h2" for some of it
	cargo build --release --locked -p eyelevel-replay --examples
	$(PYTHON) -m benchmarks.replay $(PARTS)
	$(PYTHON) -m benchmarks.replay.archive

bench-probe: setup ## the prober's bounds, measured in the lab; PARTS="rates" for some of them
	$(PYTHON) -m benchmarks.probe $(PARTS)

bench-archive: setup ## opening, verifying and matching recorded sites against their bounds
	$(PYTHON) -m benchmarks.replay.archive

clean: ## what was built; not what was measured
	rm -rf target dist $(VENV)

$(VENV)/.stamp-system: scripts/system-packages
	scripts/system-packages
	test -x $(PYTHON) || python3 -m venv $(VENV)
	@touch $@

$(VENV)/.stamp-python: $(VENV)/.stamp-system requirements.lock
	$(PYTHON) -m pip install --quiet --require-hashes --requirement requirements.lock
	@touch $@

$(VENV)/.stamp-dev: $(VENV)/.stamp-python requirements-dev.lock
	$(PYTHON) -m pip install --quiet --require-hashes --requirement requirements-dev.lock
	@touch $@

$(VENV)/.stamp-build: $(VENV)/.stamp-python pyproject.toml $(SCRIPT) scripts/lab-tables $(RUST_SOURCES)
	@echo "building: a few minutes the first time"
	. $(VENV)/bin/activate && PIP_QUIET=1 maturin develop --release --locked --quiet
	scripts/lab-tables
	@touch $@
