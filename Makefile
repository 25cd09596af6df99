# make demo           from nothing to a map: environment, install, embed, picture
# make test           the whole test suite, in two processes (WORKERS=4: in four)
# make test-quick     without slow tests and without a browser, in less than two minutes
# make lint           style, types, one-way imports
# make fuzz           random cases of everything public, in a few minutes or in FUZZ=20000 per kind; counts are printed
# make docs           the site, in docs/_build/html
# make figures        the figures of the paper, in output/figures
# make bench          ratios against peers, in one run
# make fuzz-files     60,000 broken files through all readers; processes killed while they write
# make fuzz-readers   the same, guided by coverage (needs atheris)
# make release-check  sdist and wheel, each extra in an empty environment, lowest versions
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
INSTALL := $(PIP) --constraint constraints.txt --editable

.PHONY: demo test test-quick lint docs figures bench fuzz fuzz-files fuzz-readers release-check clean

# An environment with a pip that knows dependency groups.
$(VENV)/.made:
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.demo: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing finsler into $(VENV) (a minute or two the first time) ..."
	@$(INSTALL) '.[plot,cli]'
	@touch $@

$(VENV)/.develop: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing finsler and its development tools into $(VENV) (a few minutes the first time) ..."
	@$(INSTALL) '.[all]' --group test --group lint --group paper
	@touch $@ $(VENV)/.demo

$(VENV)/.docs: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing finsler and what its site needs into $(VENV) (a few minutes the first time) ..."
	@$(INSTALL) '.[plot,cli,graph,cells,data,learn]' --group docs
	@touch $@ $(VENV)/.demo

$(VENV)/.figures: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing finsler and what the figures need into $(VENV) (a minute or two the first time) ..."
	@$(INSTALL) '.[plot,graph]' --group figures
	@touch $@

$(VENV)/.bench: $(VENV)/.made pyproject.toml constraints.txt
	@$(INSTALL) '.[all]' --group bench
	@# Without torchvision, on which pymde depends for data sets: it would ask for another build of torch than the pinned one.
	@$(PIP) --no-deps 'pymde>=0.3' 'pynndescent>=0.5'
	@touch $@

demo: $(VENV)/.demo
	@$(BIN)/python examples/01_flight_hours.py

# A process that is done takes over tests from another; tests that stand side by side in a file mostly stay together.
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

test: $(VENV)/.develop
	$(PYTEST)

test-quick: $(VENV)/.develop
	$(PYTEST) -m "not slow and not browser"

# Cases of each kind; those of a campaign, in a row, beside them. Failures are numbers that repeat them.
FUZZ ?= 500
CASES ?= 20000
fuzz: $(VENV)/.develop
	FINSLER_FUZZ=$(FUZZ) $(BIN)/python -m pytest tests/fuzz
	FINSLER_FUZZ=$(FUZZ) $(BIN)/python -m pytest -m hypothesis --ignore tests/fuzz
	$(BIN)/python tests/fuzz/campaign.py --cases $(CASES)

lint: $(VENV)/.develop
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Pages of names that are gone would be warned of. Tutorials and gallery run; --keep-going shows every warning before the build fails by them.
docs: $(VENV)/.docs
	rm -rf docs/reference
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

figures: $(VENV)/.figures
	$(BIN)/python paper/figures.py --out output/figures

# A state of the code from before passes in single precision, to be measured beside this one.
OLDER ?= 5a3e2e5
output/older:
	git worktree prune
	git worktree add --detach $@ $(OLDER)

bench: $(VENV)/.bench output/older
	$(BIN)/python benchmarks/bench.py --large
	$(BIN)/python benchmarks/precision.py
	$(BIN)/python benchmarks/beside_old.py output/older
	$(BIN)/python benchmarks/bench_multiresolution.py
	$(BIN)/python benchmarks/bench_compare.py
	$(BIN)/python benchmarks/bench_paths.py --json benchmarks/bench_paths.json
	$(BIN)/python benchmarks/bench_reading.py --json benchmarks/bench_reading.json
	$(BIN)/python benchmarks/bench_sparse.py --json benchmarks/bench_sparse.json
	$(BIN)/python benchmarks/profile_sparse.py --json benchmarks/profile_sparse.json
	$(BIN)/python benchmarks/bench_lattices.py --json benchmarks/bench_lattices.json
	$(BIN)/python benchmarks/bench_swirl.py --json benchmarks/bench_swirl.json
	$(BIN)/python benchmarks/bench_ordinal.py --json benchmarks/bench_ordinal.json

fuzz: fuzz-files

fuzz-files: $(VENV)/.develop
	$(BIN)/python tests/fuzz/readers.py --cases $${CASES:-60000} --seed $${SEED:-0} --keep output/fuzz
	$(BIN)/python tests/fuzz/signals.py --kills 60 --terms 40

# Atheris is no part of the development tools: it has no wheel for some Pythons.
fuzz-readers: $(VENV)/.develop
	$(BIN)/python tests/fuzz/atheris_readers.py -max_total_time=$${FUZZ_SECONDS:-600} -max_len=20000

release-check:
	PYTHON=$(PYTHON) .ci/release_check

clean:
	rm -rf $(VENV) output build docs/_build docs/tutorials docs/gallery docs/reference dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
