# Every command there is; `make` alone prints them. Needs Python 3.11 or newer, and nothing else.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
# Root's Postgres runs as another account, to which a clone in a closed home is closed too.
OPEN = $(shell [ "$$(id -u)" != 0 ] || su -s /bin/sh nobody -c 'cd "$(CURDIR)"' 2>/dev/null && echo open)
DATA_DIR ?= $(if $(OPEN),./data,/var/lib/lockstitch)
LISTEN ?= 127.0.0.1:50051
# Where a second, older Postgres lies: contract and integration tests run on it too. Empty: they are named as skipped.
LOCKSTITCH_TEST_POSTGRES_BIN ?= $(firstword $(wildcard /usr/lib/postgresql/15/bin /usr/pgsql-15/bin))

BIN := .venv/bin
READY := .venv/.ready
GENERATOR := .venv-generate/.ready
TYPED := $(wildcard client/python/lockstitch client/python/lockstitch_conformance client/testdata server/lockstitch_server migrations/lockstitch_migrations tests examples bench)
# What hangs on the version of Postgres: the schema, and the calls that go through it. Not the walls once more RPC by RPC, the client,
# and the long stories, which go through the same statements.
ON_OLD_POSTGRES := tests/integration tests/contract $(addprefix --ignore=tests/contract/,isolation client cases)
LAST_TAG := $(shell git describe --tags --abbrev=0 2>/dev/null)
# Stubs made by 1.71.2 import under protobuf 5, 6 and 7; those of later releases do not. It needs protobuf 5 itself, so
# it lives apart from the tools.
GENERATE_WITH := grpcio-tools==1.71.2
# The bench's load generator, the peers that it measures, and what draws: each is left out where it cannot be had.
LOAD := .cache/bench/load
PEERS := .venv-peers/.ready
PLOTS := .venv-plots/.ready
PLOT_WITH := matplotlib==3.11.2
AUDIT := .venv-audit/.ready
AUDIT_WITH := pip-audit==2.10.1

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore
# What gRPC does around a fork crashes now and then beside its threads; what we start becomes another program at once.
export GRPC_ENABLE_FORK_SUPPORT := false

.DEFAULT_GOAL := help
.PHONY: help setup fmt lint test test-clients conformance audit fuzz faults soak generate generate-check breaking bench demo serve build ci

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## make the virtual environment; quick when nothing changed

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[server,cli,nats,dev]'
	@touch $@

$(AUDIT): Makefile
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/pip install --quiet $(AUDIT_WITH)
	@touch $@

$(GENERATOR): Makefile
	$(PYTHON) -m venv .venv-generate
	.venv-generate/bin/pip install --quiet $(GENERATE_WITH)
	@touch $@

fmt: $(READY) ## format and mend what can be mended
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

lint: $(READY) $(GENERATOR) ## ruff, mypy strict, layers, protos, Python's generated code, dependencies that fit each other
	protos/generate --check client/python
	$(BIN)/pip check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(TYPED)
	$(BIN)/lint-imports --no-cache
	$(BIN)/buf lint protos

test: $(READY) ## all tests on the embedded Postgres, then contract and integration on an older one
	$(BIN)/pytest --numprocesses=3 --dist=loadfile
ifeq ($(LOCKSTITCH_TEST_POSTGRES_BIN),)
	@echo "SKIPPED: contract and integration tests on Postgres 15: not found (set LOCKSTITCH_TEST_POSTGRES_BIN)"
else
	LOCKSTITCH_POSTGRES_BIN=$(LOCKSTITCH_TEST_POSTGRES_BIN) $(BIN)/pytest --numprocesses=2 --dist=loadfile $(ON_OLD_POSTGRES)
endif

audit: $(READY) $(AUDIT) ## look for known faults in what is installed; needs PyPI's list of them
	.venv-audit/bin/pip-audit --strict --skip-editable --path "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

fuzz: $(READY) ## throw drawn requests and bytes at a server for five minutes; `make test` does it for 20 seconds
	LOCKSTITCH_FUZZ_SECONDS=300 $(BIN)/pytest tests/fuzz

# `make test` has Python's turn on the vectors.
test-clients: $(READY) $(GENERATOR) ## the other languages' clients on real servers; what this machine lacks is named as SKIPPED
	client/each generate-check test engine
	$(BIN)/python examples/five_engines/conversation.py

conformance: $(READY) ## the wire contract's suite, on a server that is started for it
	PYTHONPATH=tests $(BIN)/python tests/conformance/on_our_server.py

faults: $(READY) ## break servers, database, network, disk and clock under traffic for 20 minutes (LOCKSTITCH_FAULTS_SECONDS), and check
	PYTHONPATH=tests $(BIN)/python -m faults.run

soak: $(READY) ## an hour of steady traffic (LOCKSTITCH_SOAK_SECONDS): what grows, though it should not
	PYTHONPATH=tests $(BIN)/python -m faults.soak

generate: $(READY) $(GENERATOR) ## make the stubs of all languages from protos/ again
	protos/generate client/python
	client/each generate

generate-check: $(READY) $(GENERATOR) ## fail if generating again changes a byte, in any language
	protos/generate --check client/python
	client/each generate-check

breaking: $(READY) ## fail if protos/ break what the last release reads and writes
ifeq ($(LAST_TAG),)
	@echo "no release yet: nothing to compare protos/ with"
else
	$(BIN)/buf breaking protos --against '.git#tag=$(LAST_TAG),subdir=protos'
endif

$(LOAD): $(wildcard bench/load/*.go) bench/load/go.mod bench/load/go.sum
	@mkdir -p $(@D)
	cd bench/load && go build -o $(CURDIR)/$@ .

$(PEERS): bench/peers/requirements.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/pip install --quiet --requirement $<
	@touch $@

$(PLOTS): Makefile
	$(PYTHON) -m venv .venv-plots
	.venv-plots/bin/pip install --quiet $(PLOT_WITH)
	@touch $@

bench: $(READY) $(if $(filter 1,$(PLOT)),$(PLOTS)) ## measure what we publish, on a quiet machine; PLOT=1 draws it, too
	@$(MAKE) --no-print-directory $(LOAD) || echo "No native load generator: that needs Go. What needs it is named as not measured."
	@$(MAKE) --no-print-directory -C client/go bench || echo "No Go client: that needs Go. What needs it is named as not measured."
	@$(MAKE) --no-print-directory $(PEERS) || echo "No peers: that needs a package index. What needs them is named as not measured."
	@$(BIN)/python bench/run.py; code=$$?; \
	[ "$(PLOT)" != 1 ] || .venv-plots/bin/python bench/plots.py; exit $$code

demo: $(READY) ## lose engines and the server in the middle of a task, and go on
	$(BIN)/python examples/continue_task.py
	$(BIN)/python examples/resume_execution.py

serve: $(READY) ## serve on LISTEN with an embedded Postgres in DATA_DIR (./data); prints a token and a first call
	@echo "A token to try it with (tenant demo, user you, role engine):"
	@$(BIN)/lockstitch-server token --data-dir $(DATA_DIR) --tenant demo --user you --role engine
	@exec $(BIN)/lockstitch-server serve --data-dir $(DATA_DIR) --listen $(LISTEN)

build: $(READY) ## the wheel and the source archive, in dist/
	$(BIN)/hatchling build

ci: ## what CI runs
	.ci/run
