# `make` without a target lists the targets. CI runs `make check test`, among others.
.DEFAULT_GOAL := help
SHELL := bash
# In development everything is built for the whole workspace: a package alone has other features of its dependencies, and all of it
# would be compiled once more.
RUN := cargo run --locked --quiet --bin
WITH_POSTGRES := $(RUN) with-postgres --
GENERATED := .sqlx docs/openapi.json docs/admin-openapi.json docs/cli.md
FUZZ_RUNS ?= 1000000
IN_CELLS := test(/^orders::/) or test(/^returns::/) or test(/^messages::(deliveries|retries|events)/)

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-18s %s\n", $$1, $$2 }'

.PHONY: setup
setup: ## Install missing tools: PostgreSQL, PgBouncer, HAProxy, curl, promtool, Node, Chromium, cargo-nextest, cargo-deny, cargo-fuzz
	@scripts/setup

.PHONY: dev
dev: ## Run everything locally: the service, a temporary PostgreSQL, two merchants and their simulated systems
	@$(RUN) backhaul -- dev

.PHONY: demo-picture
demo-picture: ## Draw what `backhaul demo` tells, for the README
	@$(RUN) backhaul -- demo --svg docs/pictures/demo.svg

.PHONY: dev-check
dev-check: ## Play the first five minutes of docs/first-steps.md in a terminal, and compare what is seen with scripts/dev-check.txt (WRITE_DOWN=1 writes it anew)
	@cargo build --locked --quiet --bins
	@PATH="$(abspath $(PROGRAMS))/debug:$$PATH" $(WITH_POSTGRES) scripts/dev-check

.PHONY: build
build: ## Build the release binary without the simulators of `backhaul dev`: target/release/backhaul
	cargo build --release --locked --no-default-features -p backhaul

.PHONY: release
release: ## Build the program as it is released, with the list of its dependencies inside and an SBOM beside it, into target/dist (cargo-auditable, cargo-cyclonedx)
	@scripts/release

.PHONY: reproduce
reproduce: ## Build the program as it is released in two places, and compare the bytes (an hour)
	@scripts/reproduce

.PHONY: packages
packages: ## Fill dist/ with the release archive, the Debian package and the OCI image (PROGRAM=path packs that program instead of building one)
	@scripts/packages

.PHONY: first-message
first-message: ## From the Debian package to a first delivered message in a new Debian, by the commands of docs/getting-started-debian.md: seconds_from_dpkg (root, mmdebstrap)
	@scripts/first-message

.PHONY: restore-drill
restore-drill: ## Lose a database under load and restore it to a moment with pgBackRest (Debian package): lost, feed_missed, undelivered, back_s (PROGRAM=path tries that program)
	@scripts/restore-drill

.PHONY: upgrade-drill
upgrade-drill: ## Upgrade two nodes under load from an earlier version, take them back and upgrade them again: server_errors, lost, inversions, feed_missed, seeded_caught (OLD=path or FROM=tag: the earlier program, NEW=path: this one)
	@[ -n "$(NEW)" ] || cargo build --locked --quiet --bins
	@OLD="$(OLD)" $(if $(FROM),FROM="$(FROM)") NEW="$(or $(NEW),$(abspath $(PROGRAMS))/debug/backhaul)" $(WITH_POSTGRES) scripts/upgrade-drill

.PHONY: check-manifests
check-manifests: ## Check ops/: the manifests for Kubernetes and Compose against their schemas, and the systemd unit (PyPI, kubectl, systemd)
	@scripts/check-manifests

.PHONY: check
check: ## Check formatting, lints, documentation, licences, alarm rules, documents, the OpenAPI documents and generated files
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet
	cargo deny --log-level error check bans licenses sources
	$(MAKE) --no-print-directory check-alarms check-docs check-openapi
	$(MAKE) --no-print-directory gen
	@git diff --exit-code -- $(GENERATED) && test -z "$$(git ls-files --others --exclude-standard -- $(GENERATED))" \
		|| { echo "generated files were out of date; 'make gen' has updated them, so commit the changes"; exit 1; }

.PHONY: check-production
check-production: ## Lint the program as it is built for production, without the simulators
	cargo clippy --locked -p backhaul --no-default-features --quiet -- -D warnings

.PHONY: check-docs
check-docs: ## Check the documents: no dead link, every alarm's runbook, British spelling (cspell, npm; words of our own in scripts/spelling/words.txt)
	@scripts/check-links
	@scripts/check-spelling

.PHONY: check-openapi
check-openapi: ## Lint both OpenAPI documents (Spectral, npm)
	@scripts/check-openapi

.PHONY: check-alarms
check-alarms: ## Check the alarm rules in ops/ and run their tests (needs promtool, from Debian's package prometheus)
	@command -v promtool >/dev/null || { echo "promtool is missing: run 'make setup', or install Debian's package prometheus"; exit 1; }
	@promtool check rules ops/alarms.yml && promtool test rules ops/alarms.test.yml

.PHONY: test
test: ## Run all tests on a real PostgreSQL (from the PATH, or DATABASE_URL)
	cargo nextest run --locked --workspace $(if $(CI),--profile ci)

.PHONY: test-cells
test-cells: ## Run the tests of orders, returns and deliveries with all merchants in the second of two cells, each on a PostgreSQL server of its own
	@$(WITH_POSTGRES) env TEST_CELLS=2 bash -c 'HOME_DATABASE_URL="$$DATABASE_URL" && export HOME_DATABASE_URL && unset DATABASE_URL \
		&& cargo nextest run --locked --workspace --test surface --no-fail-fast -E "$$1"' bash '$(IN_CELLS)' \
		&& echo "test-cells: passed" || { echo "test-cells: failed"; exit 1; }

.PHONY: test-citus
test-citus: ## Run the whole surface and store suite on a Citus cluster with three cells (CITUS_SRC or CITUS_PG_CONFIG, see docs/scale-out.md): passed, failed
	@scripts/test-citus

.PHONY: test-postgres
test-postgres: ## Run all tests on another PostgreSQL: VERSION=17 or 18, fetched from Debian and not installed
	@programs=$$(scripts/postgres-version "$(VERSION)") && env -u DATABASE_URL PATH="$$programs:$$PATH" $(MAKE) --no-print-directory test

.PHONY: gen
gen: ## Regenerate the SQL metadata, the OpenAPI document and the CLI reference
	@mkdir -p .sqlx && rm -f .sqlx/query-*.json
	@# The crate is checked anew, and its time put back, so that nothing else is compiled again because of it.
	@written=$$(mktemp) $(WITH_POSTGRES) bash -euc 'trap "rm \"$$written\"" EXIT; for file in migrations/*.sql; do sed "s/ concurrently if not exists / if not exists /" "$$file" | psql -qX -v ON_ERROR_STOP=1 "$$DATABASE_URL"; done; \
		touch -r crates/store/src/lib.rs "$$written"; touch crates/store/src/lib.rs; \
		SQLX_OFFLINE=false SQLX_OFFLINE_DIR="$$PWD/.sqlx" cargo check --locked --quiet --test statements; touch -r "$$written" crates/store/src/lib.rs'
	@$(RUN) backhaul -- openapi > docs/openapi.json
	@$(RUN) backhaul -- openapi --operator > docs/admin-openapi.json
	@$(RUN) backhaul -- cli-reference > docs/cli.md

.PHONY: fuzz
fuzz: ## Fuzz the parsers of untrusted input (FUZZ_RUNS executions each)
	@for target in order_message request_body merchant_answer token_request; do scripts/fuzz $$target $(FUZZ_RUNS) || exit 1; done

.PHONY: agreement
agreement: ## Check that the fast and slow validation paths agree on 100,000 generated messages
	CASES=100000 cargo nextest run --locked --workspace --test agreement

.PHONY: mutants
mutants: ## Change the rules in crates/domain in every way that cargo-mutants knows, and check that a test notices (an hour and more)
	@command -v cargo-mutants >/dev/null || { echo "cargo-mutants is missing: run 'cargo install --locked cargo-mutants'"; exit 1; }
	@PROPTEST_CASES=64 CARGO_PROFILE_DEV_DEBUG=0 cargo mutants --package domain --output $(or $(CARGO_TARGET_DIR),target)

PROGRAMS := $(or $(CARGO_TARGET_DIR),target)
PROOF := $(PROGRAMS)/release/proof --program $(PROGRAMS)/release/backhaul

.PHONY: proof
proof:
	@cargo build --locked --quiet --release -p backhaul -p proof

.PHONY: bench-intake
bench-intake: proof ## Order intake compared with bare database writes: single_ratio, bulk_ratio, update_ratio, newer_update_ratio, p99, memory
	@$(PROOF) bench-intake

.PHONY: bench-growth
bench-growth: proof ## Intake with few and with 5 million stored orders: growth_ratio
	@$(PROOF) bench-growth

.PHONY: bench-growth-cells
bench-growth-cells: proof ## Intake with few and with 30 million stored orders in three cells of one PostgreSQL (needs 53 GB of room): growth_ratio, database_gb
	@$(PROOF) bench-growth --cells 3 --orders 30000000

.PHONY: migrate-live
migrate-live: proof ## Upgrade a database with 2 million messages under load: failed, orders_p99_ms, messages_p99_ms
	@$(PROOF) migrate-live

.PHONY: chaos-intake
chaos-intake: proof ## Intake under load with kills, disconnects and overload: lost, seeded_caught
	@$(PROOF) chaos-intake

.PHONY: merchant-move
merchant-move: proof ## Moves of a merchant under load with kills: lost, doubled, feed_gaps, pause_ms
	@$(PROOF) merchant-move

.PHONY: bench-delivery
bench-delivery: proof ## Delivery compared with its bare database statements: ratio, drain_ratio, idle p99, burst_lag_s
	@$(PROOF) bench-delivery

.PHONY: bench-flows
bench-flows: proof ## New returns, carrier events, resends and refunds until received, compared with bare database writes: carrier_ratio, carrier_database_cpu_s_per_1000, new_per_s
	@$(PROOF) bench-flows

.PHONY: chaos-delivery
chaos-delivery: proof ## Delivery while deliverers are killed and calls fail: lost, inversions, altered, seeded_caught
	@$(PROOF) chaos-delivery

.PHONY: chaos-returns
chaos-returns: proof ## 1,000 returns while the service and PostgreSQL are killed: closed, lost, double_refunds, seeded_caught
	@$(PROOF) chaos-returns

.PHONY: chaos-network
chaos-network: proof ## Returns while the network to PostgreSQL and to merchants fails 50 times: faults, lost, wedged, slowest_recovery_s, seeded_caught
	@$(PROOF) chaos-network

.PHONY: failover
failover: proof ## Returns while the primary is lost 20 times with all its data (Patroni, etcd, HAProxy: Debian packages): failovers, lost, inversions, longest_gap_s
	@scripts/setup failover
	@PATH="$$PATH:/usr/sbin" $(PROOF) failover

.PHONY: chaos-cells
chaos-cells: proof ## Returns while cells move 20 times between the workers of a Citus cluster and workers are killed 10 times (CITUS_SRC or CITUS_PG_CONFIG, see docs/scale-out.md): moves, kills, lost, inversions, longest_gap_ms
	@scripts/citus bash -c 'PATH="$$CITUS_PROGRAMS:$$PATH" $(PROOF) chaos-cells'

.PHONY: bench-citus
bench-citus: proof ## Orders and messages on one PostgreSQL, in one cell of a Citus cluster and in two on two workers (CITUS_SRC or CITUS_PG_CONFIG, see docs/scale-out.md): intake_overhead, delivery_overhead, second_worker_orders, second_worker_messages
	@scripts/citus bash -c 'PATH="$$CITUS_PROGRAMS:$$PATH" $(PROOF) bench-citus'

.PHONY: chaos-carriers
chaos-carriers: proof ## Returns while the service is killed and carriers fail, repeat and reorder: kills, labelled, bought_twice, scans_lost, inversions
	@$(PROOF) chaos-carriers

.PHONY: chaos-receiving
chaos-receiving: proof ## 50 scanners receive an ASN of 10,000 lines, and returns without an ASN, while the service is killed: received, messages, lost, doubled, seeded_caught
	@$(PROOF) chaos-receiving

.PHONY: chaos-exchanges
chaos-exchanges: proof ## Hundreds of concurrent confirmations per exchange while the service is killed and merchants fail: placed, doubled, both, lost, seeded_caught
	@$(PROOF) chaos-exchanges

.PHONY: bench-portal
bench-portal: proof ## 200 pages a second of the portal with 1 million stored orders, beside order intake at half its rate: pages_per_s, p99_ms
	@$(PROOF) bench-portal

.PHONY: bench-console
bench-console: proof ## Every page of the operator's console with 1 million orders and 2 million messages stored, beside deliveries at half their rate: most_buffers, p99_ms, deliveries_p99_ratio
	@$(PROOF) bench-console

.PHONY: attack-portal
attack-portal: proof ## Compare the portal's misses, answers and times, in 10,000 pairs each, and guess 10,000 orders: pairs, worst_t, guesses, found, locked_out
	@$(PROOF) attack-portal

.PHONY: attack-edge
attack-edge: proof ## Reset 100,000 requests as fast as they are begun, by strangers and by a merchant, while another caller asks for orders: resets, grown_mb, failed, p99_ratio
	@$(PROOF) attack-edge

.PHONY: chaos-portal
chaos-portal: proof ## 200 shoppers confirm in the portal at once while the service is killed: shoppers, kills, returns, doubled, lost, seeded_caught
	@$(PROOF) chaos-portal

.PHONY: chaos-mails
chaos-mails: proof ## 1,000 mails to shoppers while the service is killed and the mail server fails: mails, kills, repeats, lost, doubled, altered, seeded_caught
	@$(PROOF) chaos-mails

.PHONY: mails-postfix
mails-postfix: proof ## 1,000 mails to shoppers through a real Postfix while the service is killed; installs Debian's package if it is missing
	@command -v postfix >/dev/null || { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postfix; }
	@$(PROOF) chaos-mails --postfix

# The binary with crash points has its own name and sits next to the plain one. Only the two crates that contain crash points
# are built a second time, and the plain binary stays free of them.
CRASH_POINTS := -p backhaul --features crash-points --bin backhaul-crash-points

.PHONY: crash-delivery
crash-delivery: proof ## Crash a process at every point of a delivery: points, hits, lost, inversions, altered
	@cargo build --locked --quiet --release $(CRASH_POINTS)
	@$(PROGRAMS)/release/proof --program $(PROGRAMS)/release/backhaul-crash-points crash-delivery

.PHONY: crash-returns
crash-returns: proof ## Crash a process at every commit of a return: places, hits, closed, lost, double_refunds
	@cargo build --locked --quiet --release $(CRASH_POINTS)
	@$(PROGRAMS)/release/proof --program $(PROGRAMS)/release/backhaul-crash-points crash-returns

.PHONY: rolling-restarts
rolling-restarts: proof ## Restart two nodes behind a load balancer in turn at 500 requests a second: restarts, requests, resets, server_errors
	@$(PROOF) rolling-restarts

.PHONY: rolling-haproxy
rolling-haproxy: proof ## Restart two nodes behind HAProxy (Debian package) 100 times while clients in Python, Node and curl call: restarts, requests, failed
	@scripts/setup haproxy
	@PATH="$$PATH:/usr/sbin" $(PROOF) rolling-haproxy

.PHONY: outage-delivery
outage-delivery: proof ## PostgreSQL outages under a steady load: slowest_recovery_s, lost
	@$(PROOF) outage-delivery

.PHONY: freeze-delivery
freeze-delivery: proof ## A deliverer freezes for longer than its leases and resumes: stale_attempts, lost
	@$(PROOF) freeze-delivery

.PHONY: bench-isolation
bench-isolation: proof ## Healthy endpoints next to failing ones: p99_ratio, p99_added_ms
	@$(PROOF) bench-isolation

.PHONY: bench-variants
bench-variants: proof ## A healthy merchant next to one whose variants endpoint hangs: p99 ratios, longest_wait_ms
	@$(PROOF) bench-variants

.PHONY: bench-backlog
bench-backlog: proof ## Cost of a message while 2 million others are waiting: cost_ratio, cost_ratio_held
	@$(PROOF) bench-backlog

.PHONY: prove-feed
prove-feed: proof ## Feed readers during concurrent writes, a failover and a restored backup: missed, doubled, never_said, gaps
	@$(PROOF) feed

.PHONY: bench-retry
bench-retry: proof ## Live messages while all failed messages are retried, with a kill: p99_ratio, lost, repeated
	@$(PROOF) bench-retry

.PHONY: bench-pallet
bench-pallet: proof ## Ship a pallet of 100,000 units and check that its messages are complete: ship_s, grown_mb
	@$(PROOF) bench-pallet

.PHONY: bench-lists
bench-lists: ## Cost of list queries with 2 million messages and 6 million attempts: pages_over_500
	@MESSAGES=2000000 cargo test --locked --quiet --test lists -- --nocapture | grep '^{'

.PHONY: bench-reports
bench-reports: ## Cost of the console's reports with a year of 1,000 merchants: most_pages, p99_ms
	@MERCHANTS=1000 cargo test --locked --quiet --test report_days a_report_touches -- --nocapture | grep '^{'

.PHONY: model-returns
model-returns: ## Compare 100,000 random histories of returns with a simple model
	@HISTORIES=100000 cargo test --locked --quiet --release --test surface any_history_of_returns -- --nocapture | grep '^{'

.PHONY: race-returns
race-returns: ## Race returns with order updates, and labels with scans, 10,000 times each
	@TRIALS=10000 cargo test --locked --quiet --release --test surface returns::races

.PHONY: plan-returns
plan-returns: ## Query plans for returns with 200,000 orders and 100,000 returns: most_sorted, most_pages
	@ORDERS=200000 cargo test --locked --quiet --test return_plans -- --nocapture | grep '^{'

.PHONY: plan-warehouse
plan-warehouse: ## Query plans for shipments, receiving, drop shipping, exchanges and erasure with 100,000 of each: most_sorted, most_pages
	@UNITS=100000 cargo test --locked --quiet --test warehouse_plans -- --nocapture | grep '^{'

.PHONY: probe-citus
probe-citus: ## Run every statement in a cell of a Citus cluster (CITUS_SRC or CITUS_PG_CONFIG, see docs/scale-out.md): statements, refused
	@scripts/citus bash -o pipefail -c "cargo test --locked --quiet --test cells -- --nocapture | grep '^{'"

.PHONY: proof-short
proof-short: ## Run the benches and chaos tests briefly, with the development build
	@cargo build --locked --quiet --bins
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-intake --seconds 1 --rounds 1
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-growth --seconds 1 --orders 20000
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul migrate-live --messages 50000 --orders 20000
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-console --orders 20000 --messages 40000 --failures 2000 --seconds 3 --rounds 1 --untimed
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul chaos-intake --kills 6 --database-kills 2 --disconnects 800 --overload-seconds 6
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul merchant-move --orders 2000 --kills 6
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-delivery --messages 1000 --waiting 2000 --idle 100 --rounds 1
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-flows --returns 400 --seconds 1 --rounds 1 --untimed
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul chaos-delivery --kills 3 --subjects 60
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul chaos-returns --returns 50 --kills 4 --database-kills 2 --every 2000
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul chaos-network --faults 5 --longest 3000 --seed 5
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul chaos-carriers --returns 40 --kills 3 --every 3000
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul chaos-receiving --lines 500 --kills 3
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul chaos-exchanges --orders 12 --confirmations 20 --refused 12 --kills 3 --every 1500
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-portal --orders 20000 --per-second 20 --seconds 5
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul attack-portal --pairs 50 --guesses 1500 --addresses 20
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul attack-edge --resets 4000 --per-second 2000 --untimed
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul chaos-portal --shoppers 40 --kills 3
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul chaos-mails --returns 60 --kills 3 --every 2000
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul crash-delivery --times 1
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul crash-returns --times 1
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul rolling-restarts --restarts 3 --per-second 100
	@PATH="$$PATH:/usr/sbin" $(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul rolling-haproxy --restarts 3
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul outage-delivery --outages 1 --seconds 3
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul freeze-delivery
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-isolation --seconds 2 --rounds 1 --waiting 1000
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-variants --seconds 5 --rounds 1
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-backlog --many 20000 --messages 1000 --rounds 1
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul feed --seconds 2
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-pallet --units 5000
	@$(PROGRAMS)/debug/proof --program $(PROGRAMS)/debug/backhaul bench-retry --failed 2000 --seconds 3 --per-second 200

.PHONY: e2e-programs
e2e-programs:
	@[ -d e2e/node_modules ] && command -v chromium >/dev/null || { echo "Chromium or the packages of e2e/ are missing: run 'make setup'"; exit 1; }
	@cargo build --locked --quiet --bins

.PHONY: e2e
e2e: e2e-portal e2e-console ## Walk every road through the shoppers' portal and the operators' console once in a real browser: passed, failed, axe_violations

.PHONY: e2e-portal
e2e-portal: e2e-programs ## Walk every road through the shoppers' portal once (ROAD=exchange: that one, PORTAL_LANGUAGE=de: in German)
	@node e2e/run.mjs $(PROGRAMS)/debug

.PHONY: e2e-console
e2e-console: e2e-programs ## Walk every road through the operators' console once, by keyboard alone (ROAD=failing: that one)
	@$(WITH_POSTGRES) node e2e/console.mjs $(PROGRAMS)/debug

.PHONY: e2e-full
e2e-full: e2e-programs ## Walk every road with and without JavaScript, by pointer and keyboard, at 320, 390 and 1280 px, in light and dark, and once in each other language
	@node e2e/run.mjs --full $(PROGRAMS)/debug
	@$(WITH_POSTGRES) node e2e/console.mjs --full $(PROGRAMS)/debug

.PHONY: pictures
pictures: e2e-programs ## Take pictures of every page and state of the portal and the console, into target/pictures (PORTAL_LANGUAGE=de: the portal in German)
	@node e2e/run.mjs --pictures $(PROGRAMS)/debug
	@$(WITH_POSTGRES) node e2e/console.mjs --pictures $(PROGRAMS)/debug

.PHONY: scan-tls
scan-tls: ## Scan the built program's TLS with sslscan and testssl.sh (Debian packages)
	@scripts/scan-tls

.PHONY: bench-slow-clients
bench-slow-clients: ## A normal client's p99 during slow-client attacks by slowhttptest (Debian package)
	@scripts/slow-clients

.PHONY: bench-import
bench-import: ## Rate, memory and correctness of a large import, compared with bare upserts (ORDERS of them)
	@scripts/bench-import

.PHONY: fuzz-api
fuzz-api: ## Call every route with CASES valid and invalid requests, generated by schemathesis (PyPI)
	@scripts/fuzz-api

.PHONY: contract-by-curl
contract-by-curl: ## Go through the contract with curl: every call that it allows, every limit that it states: calls, differences
	@scripts/contract-by-curl

.PHONY: edge-short
edge-short: ## Run the TLS scan, slow-client, API fuzzing and import checks briefly, with the development build
	@cargo build --locked --quiet --bins
	@PROGRAM=$(PROGRAMS)/debug/backhaul CASES=100 scripts/fuzz-api
	@PROGRAM=$(PROGRAMS)/debug/backhaul ROUNDS=1 scripts/slow-clients
	@PROGRAM=$(PROGRAMS)/debug/backhaul scripts/scan-tls
	@PROGRAM=$(PROGRAMS)/debug/backhaul ORDERS=6000 scripts/bench-import

.PHONY: advisories
advisories: ## Check the dependencies for known vulnerabilities and yanked versions (needs GitHub, or a clone of RustSec's database in ADVISORY_DB)
	@scripts/advisories
