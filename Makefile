# make demo   from nothing to a map: environment, install, embed, picture
# make test   the whole test suite
# make lint   style, types, one-way imports
# make docs   the site, in docs/_build/html
# make figures  the figures of the paper, in output/figures
# make bench  ratios against peers, in one run
# make release-check  sdist and wheel, each extra in an empty environment, lowest versions
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo figures test lint docs bench release-check clean

$(VENV)/.demo: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing finsler into $(VENV) (a minute or two the first time) ..."
	@$(PIP) --editable '.[plot,cli]'
	@touch $@

$(VENV)/.develop: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing finsler and its development tools into $(VENV) (a few minutes the first time) ..."
	@$(PIP) --editable '.[test,lint]'
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	@$(BIN)/python examples/01_flight_hours.py

# networkx and UMAP draw the layouts that figure 5 puts beside ours.
$(VENV)/.figures: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing finsler and what the figures need into $(VENV) (a minute or two the first time) ..."
	@$(PIP) --editable '.[plot,graph]' umap-learn
	@touch $@

figures: $(VENV)/.figures
	$(BIN)/python paper/figures.py --out output/figures

test: $(VENV)/.develop
	$(BIN)/python -m pytest

lint: $(VENV)/.develop
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/.docs: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing finsler and what its site needs into $(VENV) (a few minutes the first time) ..."
	@$(PIP) --editable '.[docs]'
	@touch $@ $(VENV)/.demo

# Tutorials and gallery run; --keep-going shows every warning before the build fails by them.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

bench: $(VENV)/.develop
	@$(PIP) --editable '.[bench]'
	$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/bench_paths.py --json benchmarks/bench_paths.json
	$(BIN)/python benchmarks/bench_sparse.py --json benchmarks/bench_sparse.json

release-check:
	PYTHON=$(PYTHON) .ci/release_check

clean:
	rm -rf $(VENV) output build docs/_build docs/tutorials docs/gallery docs/reference dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
