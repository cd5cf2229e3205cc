# Everything a user or a developer does with a clone, by name. `make help` lists it.
SHELL := /bin/bash
JOBS ?= $(shell nproc)
PRESET ?= release
BUILD := $(if $(filter release,$(PRESET)),build,build-$(PRESET))

.PHONY: help setup configure build program benchmarks demo test bench acceptance fresh format format-check check docs docs-check gallery tidy view view-test \
  install clean fuzz soak sanitize analyse coverage

help:
	@echo "make demo        set up, build, run the main scene, verify it, draw it: results in demo/"
	@echo "make test        set up, build, run every test"
	@echo "make build       build only: the program is $(BUILD)/bin/tenon (PRESET=debug|asan|tsan for others)"
	@echo "make view        build the page of 'tenon view' (needs Node; installs it where it is missing)"
	@echo "make view-test   test that page in a browser (installs Chromium where it is missing)"
	@echo "make bench       set up the peers, run every benchmark, as JSON lines in build/bench.jsonl"
	@echo "make acceptance  long runs at paper size in sittings of 40 minutes (MINUTES=), and rigid-ipc's scenes (FIXTURES=folder): results in acceptance/"
	@echo "make fresh       prove 'make demo' and 'make test' in a minimal Debian (root)"
	@echo "make sanitize    build with ASan and UBSan, run every test (30 minutes and more; SANITIZE=thread: TSan)"
	@echo "make fuzz        build the fuzzers with clang, run each for SECONDS_EACH (60)"
	@echo "make soak        random scenes through every method (SCENES=200, SEED=1)"
	@echo "make analyse     cppcheck and clang-tidy over src"
	@echo "make coverage    lines of src that the tests reach"
	@echo "make format      clang-format all sources"
	@echo "make check       what a change must pass: format, layers, words, tidy, documentation, tests, tests with sanitizers"
	@echo "make tidy        clang-tidy on what differs from the last release"
	@echo "make docs        check the documentation's links and commands, build its site: build/site/index.html"
	@echo "make gallery     draw every built-in scene for the documentation; films of all: $(BUILD)/gallery/index.html (an hour and more)"
	@echo "make install     install to PREFIX (default /usr/local)"
	@echo "make clean       remove what was built"

setup:
	@scripts/setup core

configure: setup
	@cmake --preset $(PRESET) -DTENON_PCH=ON -DTENON_UNITY=ON >$(BUILD).configure.log 2>&1 || \
	  { cat $(BUILD).configure.log; rm -f $(BUILD).configure.log; exit 1; }
	@mv $(BUILD).configure.log $(BUILD)/configure.log

build: configure
	@cmake --build $(BUILD) -j $(JOBS)
	@echo "the program is $(abspath $(BUILD))/bin/tenon"

program: configure
	@cmake --build $(BUILD) -j $(JOBS) --target tenon_app

benchmarks: configure
	@cmake --build $(BUILD) -j $(JOBS) --target tenon_app tenon_bench

demo: program
	@scripts/demo $(BUILD)/bin/tenon demo

test: build
	@cd $(BUILD) && ctest -j $(JOBS) --output-on-failure

bench: setup
	@scripts/setup bench
	@$(MAKE) --no-print-directory benchmarks
	@$(BUILD)/bin/tenon bench --json | tee $(BUILD)/bench.jsonl

FIXTURES ?= ../shared/fixtures/rigid-ipc
acceptance: benchmarks
	@scripts/acceptance $(BUILD)/bin/tenon acceptance
	@scripts/fixtures $(BUILD)/bin/tenon $(FIXTURES) acceptance/fixtures

fresh:
	@scripts/fresh

# PARTS="solve verify": only these folders of src and tests, and the tests of those that have some. SANITIZE=thread: data
# races instead (with PARTS, or the preset tsan whole).
PARTS ?=
SANITIZE ?= address,undefined
SANITIZE_PRESET := $(if $(filter thread,$(SANITIZE)),tsan,asan)
sanitize: setup
ifneq ($(strip $(PARTS)),)
	@scripts/sanitize-parts build-$(SANITIZE_PRESET)-parts $(SANITIZE) $(PARTS)
else
	@cmake --preset $(SANITIZE_PRESET) -DTENON_PCH=ON -DTENON_UNITY=ON >/dev/null && cmake --build build-$(SANITIZE_PRESET) -j $(JOBS)
	@cd build-$(SANITIZE_PRESET) && UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 ctest -j $(JOBS) --output-on-failure
endif

SECONDS_EACH ?= 60
fuzz: program
	@scripts/setup fuzz
	@cmake --preset fuzz >/dev/null && cmake --build build-fuzz -j $(JOBS) --target fuzz_meshes fuzz_program
	@scripts/fuzz build-fuzz $(SECONDS_EACH)

SCENES ?= 200
SEED ?= 1
soak: configure
	@cmake --build $(BUILD) -j $(JOBS) --target test_soak
	@TENON_SOAK_SCENES=$(SCENES) TENON_SOAK_SEED=$(SEED) $(BUILD)/bin/test_soak --gtest_filter='*Soak*'

analyse: setup
	@scripts/setup analyse
	@scripts/analyse

coverage: setup
	@scripts/setup coverage
	@cmake --preset coverage >/dev/null && cmake --build build-coverage -j $(JOBS)
	@cd build-coverage && ctest -j $(JOBS) --output-on-failure
	@gcovr --root . --filter src/ --object-directory build-coverage --print-summary --sort uncovered-percent

format:
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format -i

format-check:
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror

# What a change must pass.
check: format-check
	@scripts/check-layers
	@scripts/check-words
	@$(MAKE) --no-print-directory tidy docs-check test sanitize

tidy: setup
	@scripts/setup analyse
	@scripts/tidy

docs-check: program
	@scripts/check-docs $(BUILD)/bin/tenon

# The pages as a site with search: open build/site/index.html.
docs: docs-check
	@scripts/setup docs
	@scripts/docs $(BUILD)/site

# Runs every built-in scene and draws it: docs/gallery.md, its pictures, the README's; a page with a film of each.
gallery: program
	@scripts/gallery $(BUILD)/bin/tenon --films $(BUILD)/gallery

# The page lands where the program looks for it, build/share/tenon/viewer, and is installed from there.
view:
	@scripts/setup node
	@scripts/build-view $(BUILD)/share/tenon/viewer

view-test: program view
	@scripts/setup view
	@scripts/view-test $(BUILD)/bin/tenon

PREFIX ?= /usr/local
install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	@rm -rf build build-debug build-asan build-asan-parts build-tsan build-tsan-parts build-fuzz build-coverage build-tidy demo acceptance viewer/dist
