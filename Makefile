# The commands of the house. Needs only Python >= 3.11, make and a package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# One more than there are cores, at most four: much of the suite waits for processes and for the disk.
WORKERS = $(shell $(PYTHON) -c "import os; print(min(4, (os.cpu_count() or 1) + 1))")
# A worker takes one file after another, the longest first (LONGEST of tests/conftest.py); each has a database of its own.
SUITE = -m "not long" -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# $(call beside,CHECKS,TESTS): checks take one processor for half a minute and tests often wait, so both run at once.
# What the checks say comes last; either of them fails the whole.
define beside
$(MAKE) --no-print-directory $(1) > $(VENV)/checks.log 2>&1 & checks=$$!; \
$(2); tests=$$?; \
wait $$checks; found=$$?; cat $(VENV)/checks.log; exit $$((tests | found))
endef
# Where it is set, each of the hundreds of processes of a test run would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo serve quick floors test coverage test-long test-dates test-order examples screenshots bench bench-payday mutants compile clean-compile lint lock clean

setup: $(STAMP)

$(BIN)/uv:
	@echo "Creating the virtual environment in $(VENV) …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

$(STAMP): $(BIN)/uv requirements.lock pyproject.toml
	@echo "Installing the locked dependencies …"
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --require-hashes -r requirements.lock
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --no-deps -e .
	@touch $(STAMP)

demo: setup
	@$(BIN)/hearthpay demo

serve: setup
	@$(BIN)/hearthpay serve

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.wording

# What a change since the last commit touches directly, and the floors; `make test` proves.
quick: setup
	@$(call beside,floors,$(BIN)/python -m tools.quick)

floors: setup
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: setup
	@$(call beside,lint,$(BIN)/python -m pytest $(WATCHED) $(SUITE))

# The suite, watched: it fails as well where the coverage falls below its floor.
coverage:
	@$(MAKE) test WATCHED="-p tests.branches"

# Then the suite once more, on another day.
test-long: setup
	$(BIN)/pytest -m long
	$(BIN)/python -m tools.suite_on_dates 100-days

# The suite on five other days: tomorrow, in 100 and 400 days, on New Year's Eve and on a leap day. DATES='leap-day' takes
# one; `python -m tools.suite_on_dates leap-day -- tests/cli` runs other tests. Needs a C compiler; nearly an hour.
test-dates: setup
	$(BIN)/python -m tools.suite_on_dates $(DATES)

# Does a test need its neighbors, or suffer from them? All files in one process in a random order, then each alone.
# SEED=number repeats an order. An hour.
test-order: setup
	$(BIN)/python -m tools.suite_in_order $(SEED)

# The answers that the OpenAPI document shows, recorded again from what the service answers.
examples: setup
	HEARTHPAY_RECORD_EXAMPLES=1 $(BIN)/pytest tests/openapi/test_response_examples.py -k what_the_service_answers
	$(BIN)/python -m tests.openapi.publish

# The pictures of docs/app, from the pages as they are now. ALL=folder leaves a picture of every page there instead:
# wide and narrow, light and dark, in English and Spanish. ONLY='autopilot|taxes$$' takes those whose address matches.
screenshots: setup
ifdef ALL
	mkdir -p $(ALL)
	HEARTHPAY_TEST_PICTURES=$(abspath $(ALL)) HEARTHPAY_TEST_PICTURES_ONLY='$(ONLY)' $(BIN)/pytest -m long tests/stories/test_every_page.py
else
	HEARTHPAY_APP_PICTURES=docs/app $(BIN)/pytest -m long tests/stories/test_app_pictures.py
endif

bench: setup
	$(BIN)/python -m benchmarks

bench-payday: setup
	$(BIN)/python -m benchmarks.payday

bench-payday-small: setup
	$(BIN)/python -m benchmarks.payday --small

# Would a test notice a fault? 200 small faults in payroll, banking, taxes and access, in a copy of the tree; about an hour.
mutants: setup
	$(BIN)/python -m tools.mutants $(MUTANTS)

# The tax engine compiled with mypyc, in place: some minutes and a C compiler. Plain Python stays the default.
compile: setup
	$(BIN)/python tools/compile_engine.py

clean-compile: setup
	$(BIN)/python tools/compile_engine.py --remove

lock: $(BIN)/uv
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --generate-hashes --python-version 3.11 --no-emit-index-url --no-header --quiet -o requirements.lock

clean:
	rm -rf $(VENV)
