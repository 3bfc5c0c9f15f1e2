# One entry point for people and for CI. `make help` lists what there is.

SHELL         := /bin/bash
.SHELLFLAGS   := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
REXMIT  := $(BIN)/rexmit

MANIFESTS   := Cargo.toml Cargo.lock $(wildcard crates/*/Cargo.toml)
CORE_RUST   := $(shell find crates -name '*.rs' -not -path 'crates/guest/*')
GUEST_RUST  := $(shell find crates -name '*.rs' -not -path 'crates/python/*')

# Programs of others that the checks run. They are kept with the kernels, for every checkout.
CACHE        := $(or $(REXMIT_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/rexmit)
# Built without optimisation: a third of the time, and what it does takes a second.
DENY_VERSION := 0.20.2
DENY         := $(CACHE)/tools/cargo-deny-$(DENY_VERSION)/bin/cargo-deny
# An S3 server for the tests of object stores.
S3_VERSION   := 0.14.1
S3           := $(CACHE)/tools/s3s-fs-$(S3_VERSION)/bin/s3s-fs
# A clone of RustSec's database of advisories, for `make check`.
ADVISORY_DB  ?=

# Linked by Zig, so that it runs where glibc is as old as Rust's own library allows.
WHEEL_TOOLS := target/wheel-tools
# In a folder of its own: with paths remapped Cargo names what it builds alike, whatever the linker
# and the other flags, so that this and the guest would build each other's crates anew for ever.
WHEEL_BUILD := --zig --locked --target x86_64-unknown-linux-gnu --target-dir target/wheel \
	--compatibility manylinux_2_17
AS_WHEEL    := PATH='$(CURDIR)/$(WHEEL_TOOLS)/bin':"$$PATH" MATURIN_PEP517_ARGS='$(WHEEL_BUILD)'

VENV_STAMP  := $(VENV)/rexmit-locked
DOCS_STAMP  := $(VENV)/rexmit-docs-locked
# For a site without some of its pictures.
WITHOUT     := -D suppress_warnings=image.not_readable
PYTEST      := $(BIN)/pytest -n auto --dist worksteal --durations 20
# What `make setup` installs, or root has: left out of the fast tests.
MORE        := kernel or slow or tools
SPHINX      := $(BIN)/python -m sphinx --fail-on-warning --keep-going --nitpicky --quiet
CORE        := python/rexmit/_core.abi3.so
GUEST       := python/rexmit/bin/rexmit-guest

.PHONY: help setup build base system browser core docs s3 kernel kernels image wheel run findings test test-fast soak soak-trace check bench bench-long fuzz lock clean

help: ## Show this list
	@echo 'rexmit: a laboratory for TCP loss recovery'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo 'Start with: make run'

# The stamp of the virtual environment lies inside it, and the other two are
# the built files themselves: what is deleted is made anew.
setup: system build ## Install what is missing and build the programs

# What checks and fast tests need: no root, no kernel, no browser. Compiled beforehand, a command starts in two thirds of the
# time where PYTHONDONTWRITEBYTECODE is set.
build: $(VENV_STAMP) $(CORE) $(GUEST)
	@$(BIN)/python -m compileall -q python

# What Python and Rust need, and what kernels need besides.
base:
	@PYTHON='$(PYTHON)' scripts/system-packages base

system: base
	@PYTHON='$(PYTHON)' scripts/system-packages

# The browser that shows the page for its picture.
browser: base
	@PYTHON='$(PYTHON)' scripts/system-packages docs

core: $(VENV_STAMP) $(CORE)

$(VENV_STAMP): requirements-dev.lock | base
	@echo '== Python environment ($(VENV))'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		--only-binary :all: --requirement requirements-dev.lock
	@touch $@

$(DOCS_STAMP): requirements-docs.lock $(VENV_STAMP)
	@echo '== What makes the site'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		--only-binary :all: --requirement requirements-docs.lock
	@touch $@

# What the wheel has, compiled once for both.
$(CORE): $(MANIFESTS) $(CORE_RUST) pyproject.toml $(VENV_STAMP) $(WHEEL_TOOLS)/locked | base
	@echo '== Python extension'
	@$(AS_WHEEL) $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--no-build-isolation --editable .
	@touch $@

$(GUEST): $(MANIFESTS) $(GUEST_RUST) scripts/build-guest scripts/rust-flags | base
	@echo '== Guest program'
	@scripts/build-guest

$(WHEEL_TOOLS)/locked: requirements-wheel.lock | base
	@echo '== What makes the wheel ($(WHEEL_TOOLS))'
	$(PYTHON) -m venv --clear $(WHEEL_TOOLS)
	$(WHEEL_TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		--only-binary :all: --requirement requirements-wheel.lock
	@touch $@

# Without a browser the pictures of the page stay as they are, or are left out.
docs: core browser $(DOCS_STAMP) ## The documentation as a site, with its pictures: target/docs
	@echo '== Pictures (docs/pictures)'
	@PYTHONPATH=docs/_ext $(BIN)/python -m rexmit_site.pictures docs/gallery.md docs/pictures
	@echo '== Site (target/docs)'
	$(SPHINX) $(if $(shell command -v chromium),,$(WITHOUT)) --builder html docs target/docs
	@echo 'target/docs/index.html'

WHEELS ?= wheels
wheel: base $(WHEEL_TOOLS)/locked ## The packages, for pip: wheels/
	@echo '== Wheels'
	@rm -f '$(WHEELS)'/rexmit*.whl
	@$(AS_WHEEL) $(WHEEL_TOOLS)/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps \
		--no-build-isolation --wheel-dir '$(WHEELS)' .
	@SOURCE_DATE_EPOCH="$${SOURCE_DATE_EPOCH:-315532800}" $(WHEEL_TOOLS)/bin/python -m pip wheel \
		--quiet --disable-pip-version-check --no-deps --no-build-isolation \
		--wheel-dir '$(WHEELS)' $(dir $(wildcard ./distributions/*/pyproject.toml))

kernel: setup
	$(REXMIT) kernel build 6.12

kernels: kernel
	$(REXMIT) kernel build 6.1
	$(REXMIT) kernel build 6.1 --patch mptcp-reinject-on-tlp
	$(REXMIT) kernel build 6.12 --patch mptcp-reinject-on-tlp
	$(REXMIT) kernel build 6.12 --patch tcp-record-waits

run: core ## The TLP campaign of 2013: the paper, its kernel's model, real kernels
	@+MAKE='$(MAKE)' scripts/paper-campaign

# What is of the code as it is stays; of what takes hours a sample tells whether it still holds.
# ONLY names results that are measured again, whatever has changed.
TIER ?= minutes
ONLY ?=
findings: setup ## Numbers, tables and figures of docs/findings; TIER=hours: all of them
	@$(BIN)/python -m scripts.findings --tier $(TIER) $(ONLY)

# Without it the tests of images are skipped, and say so.
image: setup
	@scripts/test-image >/dev/null || echo 'note: the tests of kernel images will be skipped' >&2

$(S3): | base
	@echo '== s3s-fs $(S3_VERSION)'
	CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug --features binary \
		--root $(CACHE)/tools/s3s-fs-$(S3_VERSION) --no-track s3s-fs@$(S3_VERSION)

# It needs Rust 1.92; without it the tests of object stores are skipped, and say so.
s3: base
	@$(MAKE) --no-print-directory $(S3) || \
		echo 'note: the tests of object stores will be skipped' >&2

# Searches for packets that make the analysis panic. It is one of the tests, and built with them.
HOSTILE := cargo test --quiet --locked --workspace --test hostile -- --out '$(CURDIR)/target/hostile'

# What a moment's mistake breaks shows first: kernels are built after the fast tests.
test: setup ## All tests, those on real kernels included
	@$(MAKE) --no-print-directory test-fast
	$(HOSTILE) --cases 20000 --seconds 60
	@$(MAKE) --no-print-directory s3 kernels image wheel
	$(PYTEST) -m '$(MORE)'

test-fast: build ## The tests that need no kernel and no other program and are not slow, in parallel
	cargo test --locked --workspace
	$(PYTEST) -m 'not ($(MORE))'

FAULTS ?= 2000
SEED   ?= $(shell date +%Y%m%d)
soak: kernel ## FAULTS (2000) faults at random in what writes, drawn from SEED (today)
	$(BIN)/python -m tests.faults --faults $(FAULTS) --seed $(SEED)

CASES ?= 1000000
soak-trace: base ## CASES (1000000) hostile captures through the analysis, drawn from SEED (today)
	$(HOSTILE) --cases $(CASES) --seed $(SEED)

$(DENY): | base
	@echo '== cargo-deny $(DENY_VERSION)'
	CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug --no-default-features \
		--root $(CACHE)/tools/cargo-deny-$(DENY_VERSION) --no-track cargo-deny@$(DENY_VERSION)

check: core $(DOCS_STAMP) $(DENY) ## Format, lints, types, dependencies; warnings are errors
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	@# All of the site but its pictures, which take longer.
	$(SPHINX) $(WITHOUT) --builder dummy docs target/docs-check
	cargo fetch --quiet --locked
	$(DENY) --frozen check --hide-inclusion-graph bans licenses sources
	$(BIN)/python scripts/python-licences requirements.lock
ifneq ($(ADVISORY_DB),)
	@mkdir -p target/advisories
	@# As cargo-deny names its clone of https://github.com/RustSec/advisory-db.
	@ln -sfn '$(abspath $(ADVISORY_DB))' target/advisories/advisory-db-3157b0e258782691
	$(DENY) --frozen check --hide-inclusion-graph advisories
endif

bench: kernel ## Benchmarks; AGAINST=FILE compares ratios with those of `benches/speed.py --json`
	@PYTHON='$(PYTHON)' scripts/system-packages bench
	cargo bench --locked --package rexmit-benches
	$(BIN)/python benches/speed.py $(if $(AGAINST),--against $(AGAINST))
	$(BIN)/python benches/hostile.py
	$(BIN)/python benches/lab.py
	$(BIN)/python benches/campaign.py
	$(BIN)/python benches/figures.py
	$(BIN)/python benches/small.py
	$(BIN)/python benches/watch.py
	$(BIN)/python benches/page.py

# Forty million packets, twice: 8 GB below target/bench-trace, and more than an hour.
bench-long: setup ## Two workers of --cluster over a large capture; a kernel and `make run` from nothing
	$(BIN)/python benches/workers.py
	$(BIN)/python benches/from_nothing.py

# Needs what no test needs: cargo install cargo-fuzz, rustup toolchain install nightly,
# .venv/bin/pip install atheris. What is found goes into fuzz/corpus, which git ignores; what is
# worth keeping goes into fuzz/seeds, which the tests try (CONTRIBUTING.md).
FUZZ_SECONDS ?= 600
FUZZ_RUST    := analyzer:8000 capture:8000 headers:400 hostile:4000 plan:4000
FUZZ_PYTHON  := events:4000 record:4000 run:8000 scenario:4000 setting:400
fuzz: core ## Fuzz all that is read from outside, FUZZ_SECONDS (600) each
	@for target in $(FUZZ_RUST); do \
		name=$${target%:*}; mkdir -p fuzz/corpus/$$name; echo "== $$name"; \
		cargo +nightly fuzz run $$name fuzz/corpus/$$name fuzz/seeds/$$name -- \
			-max_len=$${target#*:} -max_total_time=$(FUZZ_SECONDS) -timeout=60; \
	done
	@for target in $(FUZZ_PYTHON); do \
		name=$${target%:*}; mkdir -p fuzz/corpus/$$name fuzz/artifacts/$$name; echo "== $$name"; \
		$(BIN)/python -m tests.fuzz $$name fuzz/corpus/$$name fuzz/seeds/$$name \
			-max_len=$${target#*:} -max_total_time=$(FUZZ_SECONDS) -timeout=60 \
			-artifact_prefix=fuzz/artifacts/$$name/; \
	done

lock: $(VENV_STAMP) ## Write the lock files of Python anew from pyproject.toml
	PYTHON='$(BIN)/python' scripts/lock-python

clean: ## Remove what was built here (runs/ and the cached kernels stay)
	rm -rf target $(VENV) $(CORE) $(GUEST)
	git clean -fqX docs/pictures
