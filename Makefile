# make run: the app on 127.0.0.1:8501. make test: everything that must hold. Both build the virtual environment they need.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PORT ?= 8501

.PHONY: run test test-fast test-slow kills kills-server lint conformance bench questions cold live-model mutations docs clean

$(VENV)/.run: requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet -r requirements.txt
	touch $@

$(VENV)/.dev: requirements.txt requirements-dev.txt $(VENV)/.run
	$(BIN)/pip install --quiet -r requirements-dev.txt
	touch $@

run: $(VENV)/.run
	$(BIN)/streamlit run web.py --server.address 127.0.0.1 --server.port $(PORT)

# What failed beside other tests is run once more alone: a browser on a busy machine is no verdict. Too little coverage still fails.
test: $(VENV)/.dev lint
	scripts/need_chromium.sh
	scripts/need_axe.sh
	scripts/need_databases.sh
	scripts/need_mcp_suites.sh
	$(BIN)/python -m pytest -m "not slow" --cache-clear -n 2 --dist loadgroup --cov --cov-report=term:skip-covered --cov-fail-under=90 \
	  || $(BIN)/python -m pytest -m "not slow" --lf --lfnf=none

test-fast: $(VENV)/.dev
	$(BIN)/python -m pytest -m "not slow and not browser" -x

test-slow: $(VENV)/.dev
	scripts/need_chromium.sh
	scripts/need_axe.sh
	$(BIN)/python -m pytest -m slow

# kills: kill -9 in the middle of 50 imports; the catalog must stay whole.
kills: $(VENV)/.dev
	$(BIN)/python -m pytest -m slow -s tests/catalog/test_kills.py

# kills-server: kill -9 of a process that imports, answers, trains and takes decisions at once, N times.
N ?= 100
kills-server: $(VENV)/.dev
	LEXSI_TEST_KILLS=$(N) $(BIN)/python -m pytest -m slow -s tests/faults/test_kills.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

# conformance: the public MCP conformance suite and the Inspector, against a server of our own; a sample runs in `make test`.
conformance: $(VENV)/.dev
	scripts/need_mcp_suites.sh
	$(BIN)/python -m pytest tests/server/test_suites.py

# 2,000 files with known truth and 2,000 damaged ones, and what share reads back equal.
mutations: $(VENV)/.dev
	$(BIN)/python -m tests.data.mutations 2000

bench: $(VENV)/.dev
	$(BIN)/python -m bench.main
	$(BIN)/python -m bench.explain
	$(BIN)/python -m bench.training

# Questions with checked answers, offline or with the configured model. The files of SHARED are read where they are beside this checkout.
SHARED ?= ../shared
questions: $(VENV)/.dev
	$(BIN)/python -m bench.pkdd
	@if [ -d $(SHARED)/cases ]; then \
	  $(BIN)/python -m bench.cases $(SHARED)/cases/questions.jsonl --data $(SHARED)/data && \
	  $(BIN)/python -m bench.bird $(SHARED)/data/bird_financial_half.json --data $(SHARED)/data; \
	else echo "$(SHARED) is not there: only the demo bank's questions ran."; fi

# Invented databases that no rule was written for, and their questions.
cold: $(VENV)/.dev
	$(BIN)/python -m bench.cold

# A small sample with the language model that LEXSI_DS_LLM_BASE_URL and LEXSI_DS_LLM_MODEL name; LEXSI_DS_LLM_PLANS=true lets it choose the steps too.
live-model: $(VENV)/.dev
	@test -n "$$LEXSI_DS_LLM_BASE_URL" -a -n "$$LEXSI_DS_LLM_MODEL" || { echo "Set LEXSI_DS_LLM_BASE_URL and LEXSI_DS_LLM_MODEL first."; exit 2; }
	LEXSI_DS_LLM_PLANS=$${LEXSI_DS_LLM_PLANS:-false} $(BIN)/python -m bench.pkdd --show all --limit 2 \
	  --kind simple --kind joins --kind ambiguous --kind unanswerable

docs: $(VENV)/.dev
	$(BIN)/python -m scripts.write_docs

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache
