# `make` lists what there is to do. `make check test` is what CI runs.
.DEFAULT_GOAL := help
SHELL := bash
WITH_POSTGRES := cargo run --quiet -p sandbox --bin with-postgres --
GENERATED := .sqlx docs/openapi.json docs/cli.md
FUZZ_RUNS ?= 1000000

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-18s %s\n", $$1, $$2 }'

.PHONY: setup
setup: ## Install what is missing: PostgreSQL, curl, promtool, Node, cargo-nextest, cargo-deny, cargo-fuzz
	@scripts/setup

.PHONY: dev
dev: ## Run everything on this machine: temporary PostgreSQL, two merchants, their simulated systems, the service
	@cargo run --quiet -p backhaul -- dev

.PHONY: build
build: ## Build the program: target/release/backhaul
	cargo build --release -p backhaul

.PHONY: check
check: ## Formatting, lints, documentation, licences, alarm rules, generated files
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
	cargo deny --log-level error check bans licenses sources
	$(MAKE) --no-print-directory check-alarms
	$(MAKE) --no-print-directory gen
	@git diff --exit-code -- $(GENERATED) && test -z "$$(git ls-files --others --exclude-standard -- $(GENERATED))" \
		|| { echo "generated files were not current; commit what 'make gen' wrote"; exit 1; }

.PHONY: check-alarms
check-alarms: ## The alarm rules of ops/, and their tests: promtool (Debian's package prometheus)
	@command -v promtool >/dev/null || { echo "promtool is missing: run 'make setup', or install Debian's package prometheus"; exit 1; }
	@promtool check rules ops/alarms.yml && promtool test rules ops/alarms.test.yml

.PHONY: test
test: ## All tests, on a real PostgreSQL (found on the PATH, or DATABASE_URL)
	cargo nextest run --workspace $(if $(CI),--profile ci)

.PHONY: gen
gen: ## Renew what is generated: SQL metadata, the OpenAPI document, the CLI reference
	@mkdir -p .sqlx && rm -f .sqlx/query-*.json
	@$(WITH_POSTGRES) bash -euc 'for file in migrations/*.sql; do psql -qX -v ON_ERROR_STOP=1 -f "$$file" "$$DATABASE_URL"; done; \
		touch crates/store/src/lib.rs; SQLX_OFFLINE=false SQLX_OFFLINE_DIR="$$PWD/.sqlx" cargo check --quiet -p store'
	@cargo run --quiet -p backhaul -- openapi > docs/openapi.json
	@cargo run --quiet -p backhaul -- cli-reference > docs/cli.md

.PHONY: fuzz
fuzz: ## Fuzz the readers of what strangers send (FUZZ_RUNS executions each)
	@for target in order_message request_body merchant_answer token_request; do scripts/fuzz $$target $(FUZZ_RUNS) || exit 1; done

.PHONY: agreement
agreement: ## Fast and slow path on 100,000 generated messages
	CASES=100000 cargo nextest run -p wire --test agreement

PROGRAMS := $(or $(CARGO_TARGET_DIR),target)
PROOF := $(PROGRAMS)/release/proof --program $(PROGRAMS)/release/backhaul

.PHONY: proof
proof:
	@cargo build --quiet --release -p backhaul -p proof

.PHONY: bench-intake
bench-intake: proof ## Order intake against the bare engine: single_ratio, bulk_ratio, update_ratio, p99, memory
	@$(PROOF) bench-intake

.PHONY: bench-growth
bench-growth: proof ## Whether intake slows down with 5 million orders stored: growth_ratio
	@$(PROOF) bench-growth

.PHONY: chaos-intake
chaos-intake: proof ## Kills, disconnects and overload under intake load: lost, seeded_caught
	@$(PROOF) chaos-intake

.PHONY: bench-delivery
bench-delivery: proof ## Delivery against the same statements without it: ratio, drain_ratio, idle p99, burst_lag_s
	@$(PROOF) bench-delivery

.PHONY: chaos-delivery
chaos-delivery: proof ## Kills of deliverers while calls fail: lost, inversions, altered, seeded_caught
	@$(PROOF) chaos-delivery

.PHONY: chaos-returns
chaos-returns: proof ## Kills of the service and of PostgreSQL under 1,000 returns: closed, lost, double_refunds, seeded_caught
	@$(PROOF) chaos-returns

.PHONY: chaos-carriers
chaos-carriers: proof ## Kills of the service while carriers fail, repeat and reorder: kills, labelled, bought_twice, scans_lost, inversions
	@$(PROOF) chaos-carriers

.PHONY: chaos-receiving
chaos-receiving: proof ## Kills of the service while 50 scanners receive an ASN of 10,000 lines: received, messages, lost, doubled, seeded_caught
	@$(PROOF) chaos-receiving

.PHONY: chaos-exchanges
chaos-exchanges: proof ## Kills of the service while hundreds confirm one exchange at once, and merchants fail: placed, doubled, both, lost, seeded_caught
	@$(PROOF) chaos-exchanges

# The program that ends where it is told has a name of its own and lies beside the plain one: only the two crates with such
# points are built a second time, and the plain program stays without them.
CRASH_POINTS := -p backhaul --features crash-points --bin backhaul-crash-points

.PHONY: crash-delivery
crash-delivery: proof ## Processes cut off at every point of a delivery: points, hits, lost, inversions, altered
	@cargo build --quiet --release $(CRASH_POINTS)
	@$(PROGRAMS)/release/proof --program $(PROGRAMS)/release/backhaul-crash-points crash-delivery

.PHONY: crash-returns
crash-returns: proof ## Processes cut off at every commit of a return: places, hits, closed, lost, double_refunds
	@cargo build --quiet --release $(CRASH_POINTS)
	@$(PROGRAMS)/release/proof --program $(PROGRAMS)/release/backhaul-crash-points crash-returns

.PHONY: outage-delivery
outage-delivery: proof ## PostgreSQL goes away under a steady load, and comes back: slowest_recovery_s, lost
	@$(PROOF) outage-delivery

.PHONY: freeze-delivery
freeze-delivery: proof ## A deliverer stands still longer than its leases last, and goes on: stale_attempts, lost
	@$(PROOF) freeze-delivery

.PHONY: bench-isolation
bench-isolation: proof ## Whether bad endpoints slow down the good ones: p99_ratio, p99_added_ms
	@$(PROOF) bench-isolation

.PHONY: bench-variants
bench-variants: proof ## Whether a merchant that does not answer for variants slows down the others: p99 ratios, longest_wait_ms
	@$(PROOF) bench-variants

.PHONY: bench-backlog
bench-backlog: proof ## Whether a message costs more when 2 million others wait: cost_ratio, cost_ratio_held
	@$(PROOF) bench-backlog

.PHONY: prove-feed
prove-feed: proof ## Readers of the feed while many write, through a failover and a restored backup: missed, doubled, never_said
	@$(PROOF) feed

.PHONY: bench-retry
bench-retry: proof ## Live messages while everything that failed is tried again, with a kill: p99_ratio, lost, repeated
	@$(PROOF) bench-retry

.PHONY: bench-pallet
bench-pallet: proof ## A pallet of 100,000 units: ship_s, grown_mb, whether its messages are whole
	@$(PROOF) bench-pallet

.PHONY: bench-lists
bench-lists: ## What lists cost with 2 million messages and 6 million attempts: pages_over_500
	@MESSAGES=2000000 cargo test --quiet -p store --test lists -- --nocapture | grep '^{'

.PHONY: model-returns
model-returns: ## 100,000 histories of returns by chance, held against a plain model
	@HISTORIES=100000 cargo test --quiet --release -p backhaul --test surface any_history_of_returns -- --nocapture | grep '^{'

.PHONY: race-returns
race-returns: ## Returns against order updates, and labels against scans, 10,000 times each
	@TRIALS=10000 cargo test --quiet --release -p backhaul --test surface returns_races

.PHONY: plan-returns
plan-returns: ## What the statements of returns cost with 200,000 orders and 100,000 returns: most_sorted, most_pages
	@ORDERS=200000 cargo test --quiet -p store --test return_plans -- --nocapture | grep '^{'

.PHONY: plan-warehouse
plan-warehouse: ## What the statements of shipments, receiving, drop shipping, exchanges and erasing cost with 100,000 of each: most_sorted, most_pages
	@UNITS=100000 cargo test --quiet -p store --test warehouse_plans -- --nocapture | grep '^{'

.PHONY: proof-short
proof-short: ## Every bench and chaos run in its short form, with the development build
	@cargo build --quiet -p backhaul -p proof
	@cargo build --quiet $(CRASH_POINTS)
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-intake --seconds 1 --rounds 1
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-growth --seconds 1 --orders 20000
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul chaos-intake --kills 6 --database-kills 2 --disconnects 800 --overload-seconds 6
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-delivery --messages 1000 --waiting 2000 --idle 100 --rounds 1
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul chaos-delivery --kills 3 --subjects 60
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul chaos-returns --returns 50 --kills 4 --database-kills 2 --every 2000
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul chaos-carriers --returns 40 --kills 3 --every 3000
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul chaos-receiving --lines 500 --kills 3
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul chaos-exchanges --orders 12 --confirmations 20 --refused 12 --kills 3 --every 1500
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul-crash-points crash-delivery --times 1
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul-crash-points crash-returns --times 1
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul outage-delivery --outages 1 --seconds 3
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul freeze-delivery
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-isolation --seconds 2 --rounds 1 --waiting 1000
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-variants --seconds 5 --rounds 1
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-backlog --many 20000 --messages 1000 --rounds 1
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul feed --seconds 2
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-pallet --units 5000
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-retry --failed 2000 --seconds 3 --per-second 200

.PHONY: scan-tls
scan-tls: ## TLS as scanners see it: sslscan and testssl.sh against the built program (Debian)
	@scripts/scan-tls

.PHONY: bench-slow-clients
bench-slow-clients: ## A normal client's p99 while slow ones hold on: slowhttptest (Debian)
	@scripts/slow-clients

.PHONY: bench-import
bench-import: ## Rate, memory and exactness of a large import, beside bare upserts (ORDERS of them)
	@scripts/bench-import

.PHONY: fuzz-api
fuzz-api: ## Every route with generated requests, right and wrong: schemathesis, CASES of them (PyPI)
	@scripts/fuzz-api

.PHONY: edge-short
edge-short: ## What scanners, slow clients, generated requests and imports show, in short form, with the development build
	@cargo build --quiet -p backhaul
	@PROGRAM=$(PROGRAMS)/debug/backhaul CASES=100 scripts/fuzz-api
	@PROGRAM=$(PROGRAMS)/debug/backhaul ROUNDS=1 scripts/slow-clients
	@PROGRAM=$(PROGRAMS)/debug/backhaul scripts/scan-tls
	@PROGRAM=$(PROGRAMS)/debug/backhaul ORDERS=6000 scripts/bench-import

.PHONY: advisories
advisories: ## Known vulnerabilities in what is built in (needs the network)
	cargo deny check advisories
