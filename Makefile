.DEFAULT_GOAL := help
SHELL := bash
WITH_POSTGRES := cargo run --quiet -p sandbox --bin with-postgres --

.PHONY: gen-sql
gen-sql:
	@rm -rf .sqlx && mkdir .sqlx
	@$(WITH_POSTGRES) bash -c 'set -e; for file in migrations/*.sql; do psql -qX -v ON_ERROR_STOP=1 -f "$$file" "$$DATABASE_URL"; done; touch crates/store/src/lib.rs; SQLX_OFFLINE_DIR="$$PWD/.sqlx" cargo check --quiet -p store'
