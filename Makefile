# One entry point for people and for CI. `make help` lists what there is.

SHELL         := /bin/bash
.SHELLFLAGS   := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
REXMIT  := $(BIN)/rexmit

# The guest is one static program: it must start inside any kernel, before
# anything of the host is in view.
TARGET := x86_64-unknown-linux-gnu
GUEST_BUILD := RUSTFLAGS='-C target-feature=+crt-static' \
	cargo build --locked --release --package rexmit-guest --target $(TARGET)

MANIFESTS   := Cargo.toml Cargo.lock $(wildcard crates/*/Cargo.toml)
CORE_RUST   := $(shell find crates -name '*.rs' -not -path 'crates/guest/*')
GUEST_RUST  := $(shell find crates -name '*.rs' -not -path 'crates/python/*')

VENV_STAMP  := $(VENV)/rexmit-locked
CORE        := python/rexmit/_core.abi3.so
GUEST       := python/rexmit/bin/rexmit-guest

.PHONY: help setup base system core kernel kernels run test soak check bench fuzz lock clean

help: ## Show this list
	@echo 'rexmit: a laboratory for TCP loss recovery'
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo 'Start with: make run'

# The stamp of the virtual environment lies inside it, and the other two are
# the built files themselves: what is deleted is made anew.
setup: system $(VENV_STAMP) $(CORE) $(GUEST) ## Install what is missing and build the programs

# What Python and Rust need, and what kernels need besides.
base:
	@PYTHON='$(PYTHON)' scripts/system-packages base

system: base
	@PYTHON='$(PYTHON)' scripts/system-packages

core: $(VENV_STAMP) $(CORE)

$(VENV_STAMP): requirements-dev.lock | base
	@echo '== Python environment ($(VENV))'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		--only-binary :all: --requirement requirements-dev.lock
	@touch $@

$(CORE): $(MANIFESTS) $(CORE_RUST) pyproject.toml $(VENV_STAMP) | base
	@echo '== Python extension'
	PIP_QUIET=1 VIRTUAL_ENV='$(CURDIR)/$(VENV)' $(BIN)/maturin develop --quiet --locked --release
	@touch $@

$(GUEST): $(MANIFESTS) $(GUEST_RUST) | system
	@echo '== Guest program'
	$(GUEST_BUILD)
	@mkdir -p $(@D)
	install -m 755 target/$(TARGET)/release/rexmit-guest $@.new
	mv $@.new $@

kernel: setup
	$(REXMIT) kernel build 6.12

kernels: kernel
	$(REXMIT) kernel build 6.1
	$(REXMIT) kernel build 6.1 --patch mptcp-reinject-on-tlp
	$(REXMIT) kernel build 6.12 --patch mptcp-reinject-on-tlp

run: core ## The TLP campaign of 2013: the paper, its kernel's model, real kernels
	@+MAKE='$(MAKE)' scripts/paper-campaign

test: kernels ## All tests, those on real kernels included
	cargo test --locked --workspace
	$(BIN)/pytest

FAULTS ?= 2000
SEED   ?= $(shell date +%Y%m%d)
soak: kernel ## FAULTS (2000) faults at random in what writes, drawn from SEED (today)
	$(BIN)/python -m tests.faults --faults $(FAULTS) --seed $(SEED)

check: setup ## Format, lints and types; warnings are errors
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

bench: kernel ## Benchmarks
	cargo bench --locked --package rexmit-benches
	$(BIN)/python benches/lab.py

# Needs what no test needs: cargo install cargo-fuzz, rustup toolchain install nightly.
FUZZ_SECONDS ?= 600
fuzz: ## Fuzz capture files, headers and the analyser, FUZZ_SECONDS (600) each
	cargo +nightly fuzz run capture -- -max_len=8000 -max_total_time=$(FUZZ_SECONDS)
	cargo +nightly fuzz run headers -- -max_len=400 -max_total_time=$(FUZZ_SECONDS)
	cargo +nightly fuzz run analyzer -- -max_len=8000 -max_total_time=$(FUZZ_SECONDS)

lock: $(VENV_STAMP) ## Write the lock files of Python anew from pyproject.toml
	PYTHON='$(BIN)/python' scripts/lock-python

clean: ## Remove what was built here (runs/ and the cached kernels stay)
	rm -rf target $(VENV) $(CORE) $(GUEST)
