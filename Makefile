# Needs Python 3.11+, git and make. Everything else is set up in .venv and web/node_modules.

MAKEFLAGS += --no-print-directory
SHELL := /bin/sh
BIN := .venv/bin
# Each process of a run imports what the first one compiled.
unexport PYTHONDONTWRITEBYTECODE

# A copy of examples/sample, made once. Changes to it are kept and are not part of the repository.
SAMPLE := sample
FOLDER ?= $(SAMPLE)
ARGS ?=
N ?=

.DEFAULT_GOAL := help
.PHONY: help up page setup setup-run setup-dev setup-test setup-bench setup-docs test test-web test-python test-pythons prove check check-python \
	check-types check-imports check-style check-generated check-web mutate gen lock measure docs bench clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile
	@echo "  make prove-NAME     run the proof tests/prove/NAME, N=... for the long run"

up: page  ## set up and open the workbench on a copy of the sample, sample/ (FOLDER=... for another folder)
	@[ "$(FOLDER)" != "$(SAMPLE)" ] || [ -e "$(SAMPLE)" ] || cp -R examples/sample "$(SAMPLE)"
	@cd "$(FOLDER)" && exec "$(CURDIR)/$(BIN)/callboard" up $(ARGS)

page: setup-run  ## build the page from web/ where it is not current
	@$(BIN)/python scripts/page.py build

setup: setup-dev  ## set up .venv with the package (editable) and the tools, and web/node_modules
	@$(BIN)/python scripts/page.py install

setup-run setup-dev setup-test setup-bench setup-docs:
	@python=$$(scripts/find-python) && "$$python" scripts/setup.py $(@:setup-%=%)

test: test-python  ## set up what tests need and pass them

test-web: setup
	@scripts/node-env vitest run

# The page's own tests come first, so that the last line is pytest's.
test-python: setup-test test-web
	@$(BIN)/python scripts/page.py build
	@$(BIN)/python -m pytest --ignore=tests/prove $(ARGS)

prove: setup-test  ## run every proof at its short default, and see each turn red under its sabotage
	@$(BIN)/python scripts/page.py build
	@$(BIN)/python -m pytest tests/prove $(ARGS)

test-pythons: setup-test  ## pass the Python tests under every Python of this machine, 3.11 and newer
	@$(BIN)/python scripts/page.py build
	@$(BIN)/python scripts/pythons.py $(ARGS)

check: check-python check-types check-imports check-style check-generated check-web  ## lint, types, imports, sizes, names, words, references

check-python: setup-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

check-types: setup-dev
	@$(BIN)/pyright

check-imports: setup-dev
	@$(BIN)/lint-imports --no-logo

check-style: setup-dev
	@$(BIN)/python scripts/check_style.py
	@$(BIN)/python scripts/check_references.py

check-generated: setup-dev
	@$(BIN)/python scripts/gen --check

check-web: setup
	@scripts/node-env biome check .
	@scripts/node-env tsc --noEmit

mutate: setup-dev  ## change the code and report what no test notices (ARGS="control log emit", N= of each)
	@$(BIN)/python scripts/mutate.py $(ARGS) $(if $(N),--n $(N))

lock: setup-dev  ## write the lock files in requirements/ (ARGS=--upgrade for the newest versions)
	@scripts/lock $(ARGS)

gen: setup-dev  ## write the files that are generated from the contracts
	@$(BIN)/python scripts/gen

measure: setup-run  ## print the size and shape of the code
	@$(BIN)/python scripts/measure.py

docs: setup-docs  ## build the docs site into site/, where a broken link fails
	@$(BIN)/python -m zensical build --clean --strict

bench: setup-bench  ## run the benchmarks beside their peers
	@$(BIN)/python scripts/page.py build
	@$(BIN)/python -m bench $(if $(N),--n $(N)) $(ARGS)

prove-%: setup-test
	@$(BIN)/python scripts/page.py build
	@$(BIN)/python -m tests.prove.$(subst -,_,$*).proof $(if $(N),--n $(N)) $(ARGS)

clean:  ## remove what was set up and built
	rm -rf .venv .venvs web/node_modules web/dist src/callboard/adapters/http/page dist build site .cache \
		.pytest_cache .ruff_cache .import_linter_cache .hypothesis
