# make run     a running kith on this machine, with a database of its own
# make test    every check; .ci/run calls it
# make accept  the long checks, with figures
# make bench   kith next to what people would use instead, a quarter of an hour; writes the README's table
# make build   bin/kith, static
# make lint    gofmt, go vet, staticcheck

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS     := -s -w -X main.version=$(VERSION)

.PHONY: run build test test-bench accept bench bench-short lint lint-bench need-server need-memcached need-redis need-gcc

run: need-server build
	@bin/kith dev

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/kith ./cmd/kith

test: need-server need-memcached need-gcc lint
	$(GO) test -race -timeout 20m ./...
	$(GO) test -count=1 -run 'TestCost$$' ./app/api # what a request may cost is no measure with the race detector
	@$(MAKE) --no-print-directory test-bench

# The benchmark is a module of its own: its peers' libraries stay out of kith. Its
# short run fails where the peers' answers differ, never on speed.
test-bench: need-redis lint-bench
	cd cmd/kithbench && $(GO) test -race -timeout 10m ./...
	cd cmd/kithbench && $(GO) test -count=1 -run Readme . # a README outside the module is not looked at before an old result is used
	@$(MAKE) --no-print-directory bench-short

bench: need-server need-memcached need-redis
	cd cmd/kithbench && $(GO) build -trimpath -o ../../bin/kithbench .
	bin/kithbench --out=cmd/kithbench/results --readme=README.md

bench-short: need-server need-memcached need-redis
	cd cmd/kithbench && $(GO) build -trimpath -o ../../bin/kithbench .
	bin/kithbench --short

accept: need-server need-memcached
	KITH_ACCEPT=1 $(GO) test -run Accept -count=1 -v -timeout 60m ./...

lint:
	@files="$$(gofmt -l .)"; [ -z "$$files" ] || { echo "not gofmt-clean:" $$files >&2; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

lint-bench:
	cd cmd/kithbench && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./...

# What is not there is installed with apt-get; elsewhere the line to type is
# printed. kith starts the programs itself: a service that the package brings
# along is not used.
need-server:
	@$(call have,mariadbd) || $(call have,mysqld) || { $(call install,mariadb-server,mariadb); }
need-memcached:
	@$(call have,memcached) || { $(call install,memcached,memcached); }
need-redis:
	@$(call have,redis-server) || { $(call install,redis-server,redis); }
# The race detector is written in C.
need-gcc:
	@$(call have,gcc) || $(call have,cc) || { $(call install,gcc libc6-dev,gcc); }

# $(call have,PROGRAM): sbin is not in everybody's PATH.
have = PATH="$$PATH:/usr/sbin:/usr/local/sbin:/usr/libexec" command -v $(1) >/dev/null

# $(call install,PACKAGES OF DEBIAN,PACKAGE ELSEWHERE)
define install
	if command -v apt-get >/dev/null; then \
		[ "$$(id -u)" = 0 ] && as= || as=sudo; \
		if [ -n "$$as" ] && ! command -v sudo >/dev/null; then \
			echo "Type this as root, then again what you typed: apt-get update && apt-get install -y $(1)" >&2; exit 1; \
		fi; \
		get="$$as env DEBIAN_FRONTEND=noninteractive apt-get"; \
		echo "installing $(1)"; \
		$$get install -y --no-install-recommends $(1) || { $$get update && $$get install -y --no-install-recommends $(1); }; \
	else \
		for line in "dnf install -y $(firstword $(1))" "zypper install $(2)" "apk add $(2)" "pacman -S $(2)" "brew install $(2)"; do \
			command -v "$${line%% *}" >/dev/null || continue; \
			echo "Type this, then again what you typed: $$line" >&2; exit 1; \
		done; \
		echo "Install $(2) with the package manager of this system, then type again what you typed." >&2; exit 1; \
	fi
endef
