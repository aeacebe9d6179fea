# SPDX-License-Identifier: Apache-2.0
#
# The targets for users, developers and CI. `make` without a target lists them.

SWIFT ?= swift
# A debug build. Its C++ code derives keys from passcodes (scrypt); without optimization, tests would spend most of
# their time waiting for that.
DEBUG_BUILD = $(SWIFT) build -Xcxx -O2
# The build that `man`, `completions` and `install` use: release or debug.
CONFIG ?= release
# The linker options of all programs, which must run on systems without Swift. lld is part of the Swift toolchain.
# Debian 13 does not have gold, and the linker that Swift would use instead (bfd) does not create RELRO sections for
# Swift's objects. Unlike gold, lld also keeps data out of executable memory. With these options, programs load faster,
# are smaller, and look for libraries only in the system's folders.
#
# Each function has its own section, and those used at startup are placed next to each other (scripts/link-order). Types
# are looked up without their names, which saves a fifth of the instructions at startup. The C++ library is linked
# statically, so the loader does not have to search for it. Swift code is optimized for size, which makes whorld 1.3 MB
# smaller and no call slower (Docs/Benchmarks.md); the C code of the ciphers is optimized for speed. Functions with the
# same instructions are linked once (--icf), which saves 1.3 MB in whorl; no program compares addresses of functions.
LINK_FLAGS = --static-swift-stdlib --disable-local-rpath -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic \
	-Xlinker -z -Xlinker now $(RELR) $(SAME_BYTES)
# The same sources result in the same program (Docs/Releasing.md): without the hash of each module's intermediate code,
# which is different each time, and without the path of this folder in the messages of C code.
NO_HASH = -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
SAME_BYTES = $(NO_HASH) -Xcc -ffile-prefix-map=$(CURDIR)=.
SWIFT_BUILD_FLAGS ?= $(LINK_FLAGS) $(STRIP) -Xlinker -L$(STATIC) -Xlinker --icf=all \
	$(if $(filter release,$(CONFIG)),-Xswiftc -Osize) -Xswiftc -Xfrontend -Xswiftc -function-sections \
	-Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors \
	$(if $(wildcard $(ORDER)),-Xlinker --symbol-ordering-file=$(ORDER) -Xlinker --no-warn-symbol-ordering)
STRIP ?= -Xlinker --strip-all
ORDER = $(CURDIR)/scripts/link-order.txt
# A folder that contains only the archive of the C++ library.
STATIC = $(CURDIR)/.build/static
# Packed relocations, if the C library supports them (2.36, Debian 12).
RELR := $(if $(shell getconf GNU_LIBC_VERSION | awk '{ split($$2, v, "."); if (v[1] > 2 || v[2] >= 36) print 1 }'),\
	-Xlinker -z -Xlinker pack-relative-relocs)
# Additional options for building the tests, including those of the login server.
SWIFT_TEST_FLAGS ?=
SERVER_TEST_FLAGS ?=
# The login server is a separate package with a separate build.
SERVER_BUILD = .build-server
SERVER_BUILD_FLAGS ?= $(LINK_FLAGS) $(STRIP)
SERVER_STAGE = $(SERVER_BUILD)/stage/$(CONFIG)

# `make check` prints how many seconds each step took.
ifdef PHASES
SHELL = scripts/phase
endif

PREFIX ?= /usr/local
DESTDIR ?=
# Where the service looks for its configuration, with any prefix.
CONFDIR = /etc/whorl
BINDIR ?= $(PREFIX)/bin
# Where `whorl` looks for it: ../libexec/whorl, relative to the folder of `whorl`.
LIBEXECDIR = $(dir $(BINDIR:%/=%))libexec/whorl
MANDIR ?= $(PREFIX)/share/man/man1
MAN8DIR = $(dir $(MANDIR:%/=%))man8
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
# Where the program looks for translations: share/locale, next to the folder of the program.
LOCALEDIR = $(dir $(BINDIR:%/=%))share/locale
SHAREDIR = $(dir $(BINDIR:%/=%))share/whorl
# udev and sysusers do not read /usr/local; files that are not part of the system belong in /etc.
ifeq ($(PREFIX),/usr)
UDEVDIR ?= /usr/lib/udev/rules.d
SYSUSERSDIR ?= /usr/lib/sysusers.d
UNITDIR ?= /usr/lib/systemd/system
SYSTEMDDIR ?= /usr/lib/systemd
SYSCTLDIR ?= /usr/lib/sysctl.d
TMPFILESDIR ?= /usr/lib/tmpfiles.d
else
UDEVDIR ?= /etc/udev/rules.d
SYSUSERSDIR ?= /etc/sysusers.d
UNITDIR ?= /etc/systemd/system
SYSTEMDDIR ?= /etc/systemd
SYSCTLDIR ?= /etc/sysctl.d
TMPFILESDIR ?= /etc/tmpfiles.d
endif

# Where userdel looks for hooks, with any prefix.
SHADOWDIR ?= /etc/shadow-maint

# The PAM module is a separate package, because it uses Embedded Swift.
PAM_BUILD = .build-pam
PAM_MODULE = $(PAM_BUILD)/release/libpam_whorl.so
# libpam loads modules from only one folder, which is next to libpam itself.
PAMDIR ?= $(patsubst %/pam_permit.so,%,$(firstword $(wildcard /usr/lib/*/security/pam_permit.so /usr/lib64/security/pam_permit.so \
	/lib/*/security/pam_permit.so /usr/lib/security/pam_permit.so)))
PAMCONFIGDIR ?= /usr/share/pam-configs

# The desktop prompt and the settings are a separate package, because they require GTK.
DESKTOP_BUILD = .build-desktop
DESKTOP_BUILD_FLAGS ?= $(LINK_FLAGS) $(STRIP)
# The program that waits for the next prompt, and the one that the settings run as root, are written in C and require only
# the C library. SwiftPM would link Swift's runtime into them.
C_PROGRAM = $(CLANG) -std=c11 -D_GNU_SOURCE -Os -fPIE -pie -fstack-protector-strong -D_FORTIFY_SOURCE=2 -Wall -Wextra -Wpedantic \
	-Wconversion -Werror -Wl,-z,now,-z,relro,-s
PROMPT_WAIT = $(C_PROGRAM) Desktop/Sources/whorl-prompt-wait/main.c
SETTINGS_HELPER = $(C_PROGRAM) -IDesktop/Sources/CSwitches Desktop/Sources/whorl-settings-helper/main.c
CLANG ?= clang
ifeq ($(PREFIX),/usr)
USERUNITDIR ?= /usr/lib/systemd/user
else
USERUNITDIR ?= /etc/systemd/user
endif
# Desktops read this folder, with any prefix.
AUTOSTARTDIR ?= /etc/xdg/autostart

# The kiosk's screen is also a separate package.
KIOSK_BUILD = .build-kiosk

# polkit reads actions only from this folder.
POLKITDIR ?= /usr/share/polkit-1/actions
# D-Bus reads its rules from this folder, with any prefix.
DBUSDIR ?= /usr/share/dbus-1
FPRINTD_PLACE = DESTDIR="$(DESTDIR)" DBUSDIR="$(DBUSDIR)" POLKITDIR="$(POLKITDIR)" scripts/fprintd-place

# The list of installed files, and the script that installs and removes them, with the values that it substitutes.
include scripts/installed.mk
VERSION = $(shell sed -n 's/.*static let text = "\(.*\)".*/\1/p' Sources/Ground/WhorlSupport/WhorlVersion.swift)
PLACE = DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" BINDIR="$(BINDIR)" LIBEXECDIR="$(LIBEXECDIR)" LIBDIR="$(LIBDIR)" DATADIR="$(KIOSK_DATADIR)" \
	VERSION="$(VERSION)" scripts/place

PRODUCTS = .build/$(CONFIG)
WHORL = $(PRODUCTS)/whorl
STAGE = .build/stage/$(CONFIG)

FORMATTED = Sources Tests Samples Bench Server/Sources Server/Tests PAM/Sources PAM/Tests SSH/Sources SSH/Tests/Fuzz Desktop/Sources Desktop/Package.swift Library/Sources Package.swift Server/Package.swift PAM/Package.swift
TEST_ENVIRONMENT = REQUIRE_PEERS=1 TSS2_LOG=all+none

.DEFAULT_GOAL := help
.PHONY: help setup setup-demo setup-test setup-server setup-test-server program build man completions translations docs test test-server check-openapi check demo bench nightly fuzz format clean \
	install install-program install-service install-fprintd uninstall test-system test-trixie test-dependency test-upgrade test-fprintd pam test-pam install-pam uninstall-pam lib test-lib install-lib uninstall-lib ssh test-ssh install-ssh uninstall-ssh desktop test-desktop pictures install-desktop uninstall-desktop kiosk-greeter test-kiosk kiosk install-kiosk uninstall-kiosk deb build-deb test-deb release build-server stage-server test-container install-server uninstall-server

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## install missing packages that the build needs
	@scripts/setup

setup-demo:
	@scripts/setup --demo

setup-test:
	@scripts/setup --test

setup-server:
	@scripts/setup --server

setup-test-server:
	@scripts/setup --test-server

$(STATIC)/libstdc++.a:
	@mkdir -p $(STATIC) && ln -s "$$(g++ -print-file-name=libstdc++.a)" $@

program: setup $(STATIC)/libstdc++.a
	$(SWIFT) build -c $(CONFIG) $(SWIFT_BUILD_FLAGS) --product whorl
	$(SWIFT) build -c $(CONFIG) $(SWIFT_BUILD_FLAGS) --product whorl-login-http
	$(SWIFT) build -c $(CONFIG) $(SWIFT_BUILD_FLAGS) --product whorl-simulate
	$(SWIFT) build -c $(CONFIG) $(SWIFT_BUILD_FLAGS) --product whorld

build: program ## build the release: program, man pages, completions and translations
	$(SWIFT) build -c $(CONFIG) $(SWIFT_BUILD_FLAGS) --product generate-manual
	@$(MAKE) --no-print-directory man completions translations

# Uses the debug build, because `make test` usually comes next, and a release takes twice as long to build.
demo: setup-demo ## show the main features on a virtual reader with a simulated TPM, unattended
	$(DEBUG_BUILD) --product whorl
	$(DEBUG_BUILD) --product whorld
	$(DEBUG_BUILD) --product whorl-simulate
	WHORL=.build/debug/whorl scripts/demo

test: setup-test ## build and run all tests except the login server's; report how many were skipped, and why
	$(DEBUG_BUILD) --build-tests $(SWIFT_TEST_FLAGS)
	$(TEST_ENVIRONMENT) SWIFT='$(SWIFT)' scripts/test $(SWIFT_TEST_FLAGS)

test-server: setup-test-server ## build and test the login server, with PostgreSQL, a browser and Apache
	$(SWIFT) build --build-tests --package-path Server --scratch-path $(SERVER_BUILD) $(SERVER_TEST_FLAGS)
	$(TEST_ENVIRONMENT) SWIFT='$(SWIFT)' Server/test $(SERVER_BUILD) $(SERVER_TEST_FLAGS)

check-openapi: test-server ## test the login server with requests generated from its OpenAPI file; downloads Schemathesis from PyPI
	Server/check-openapi $(SERVER_BUILD)

check: export WHORL_STRICT = 1
check: export WHORL_SKIPS = none
check: export REQUIRE_PEERS = 1
# Here, and in the targets that it calls.
check: SHELL = scripts/phase
check: export PHASES = 1
# Not for the login server: swift-certificates imports Apple's CoreFoundation, which this check mistakes for our
# product.
check: STRICT = --explicit-target-dependency-import-check error
check: setup-test setup-test-server ## run everything that CI runs: format, udev rules, strict build, tests, README, docs, install, release build, booted system
	@scripts/evidence >/dev/null
	$(SWIFT) format lint --strict --recursive $(FORMATTED)
	scripts/check-prose
	scripts/check-docs
	scripts/security-tests check
	REQUIRE_PEERS=1 udev/check
	packaging/check
	scripts/hardware check
	@$(MAKE) --no-print-directory test SWIFT_TEST_FLAGS="$(STRICT)"
	@$(MAKE) --no-print-directory test-server
	scripts/check-readme .build/debug/whorl
	scripts/check-programs
	scripts/check-login .build/debug/whorl $(SERVER_BUILD)/debug/whorl-login-server
	scripts/bank --check .build/debug/whorl $(SERVER_BUILD)/debug/whorl-login-server
	scripts/docs
	$(DEBUG_BUILD) $(STRICT) --product generate-manual
	scripts/test-install debug
	REQUIRE_PEERS=1 scripts/test-install-server debug
	@$(MAKE) --no-print-directory test-pam
	@$(MAKE) --no-print-directory test-lib SWIFT_TEST_FLAGS="$(STRICT)"
	@$(MAKE) --no-print-directory test-ssh SWIFT_TEST_FLAGS="$(STRICT)"
# Some compiler errors occur only in an optimized build. `make nightly` builds the login server's release.
	@$(MAKE) --no-print-directory program
	@$(MAKE) --no-print-directory test-system SYSTEM_TESTS=--day

docs: setup-test ## generate the documentation of the libraries in .build/docs, from their DocC catalogs
	$(DEBUG_BUILD)
	scripts/docs

bench: setup-test-server program ## run the benchmarks of Docs/Benchmarks.md
	WHORL_BENCH=1 $(SWIFT) build -c $(CONFIG) $(SWIFT_BUILD_FLAGS) --product ReleaseBench
	WHORL_BENCH=1 $(SWIFT) build -c $(CONFIG) $(SWIFT_BUILD_FLAGS) --product LoginBench
	WHORL_BENCH=1 $(SWIFT) build -c $(CONFIG) $(SWIFT_BUILD_FLAGS) --product LoginClientBench
	WHORL_BENCH=1 $(SWIFT) build -c $(CONFIG) $(SWIFT_BUILD_FLAGS) --product LatencySubject
	WHORL_BENCH=1 $(SWIFT) build -c $(CONFIG) $(SWIFT_BUILD_FLAGS) --product ServiceBench
	WHORL_BENCH=1 $(SWIFT) build -c $(CONFIG) $(SWIFT_BUILD_FLAGS) --product EnrollmentBench
	WHORL=$(WHORL) scripts/bench

# The program that runs a command in a booted Debian with a TPM. SYSTEM_TESTS selects tests (scripts/test-system).
GUEST ?= $(CURDIR)/scripts/guest
test-system: ## attack the installed release in a booted system
	$(SWIFT) build -c $(CONFIG) $(SWIFT_BUILD_FLAGS) --product generate-manual
	$(SWIFT) build -c $(CONFIG) $(SWIFT_BUILD_FLAGS) --product IdiomProbe
	$(SETTINGS_HELPER) -o $(PRODUCTS)/whorl-settings-helper
	@$(MAKE) --no-print-directory pam
	@$(MAKE) --no-print-directory ssh
	GUEST="$(GUEST)" scripts/test-system $(CONFIG) $(SYSTEM_TESTS)

test-trixie: ## run make check, and build and test the packages, on a bare Debian 13 and in a booted one; requires root (slow)
	scripts/chroot trixie 'make check && make deb test-deb'

test-dependency: ## build programs that depend on this package by version, on a bare Debian 12; requires root (slow)
	scripts/chroot bookworm 'scripts/test-dependency --install'

test-upgrade: deb ## upgrade a Debian 12 with our packages to Debian 13, then to the packages of make test-trixie, if they exist
	scripts/test-upgrade .build/deb $(wildcard $(HOME)/.cache/whorl/chroot/trixie/root/whorl/.build/deb)

test-fprintd: ## run fprintd's own tests against the fprintd interface, then attacks and a login through its PAM module
	$(SWIFT) build -c $(CONFIG) $(SWIFT_BUILD_FLAGS) --product FprintdProgram
	scripts/test-fprintd $(CONFIG)

# The number of logins over TLS to two instances, one of which is killed every 20 seconds.
SOAK_LOGINS ?= 200000
nightly: export WHORL_SKIPS = none
nightly: setup-test setup-test-server ## run all tests under the sanitizers, all tests of the booted system, and longer stress tests (slow)
	@status=0; for kind in thread address; do \
		$(TEST_ENVIRONMENT) SWIFT='$(SWIFT)' scripts/sanitize $$kind || status=1; \
	done; \
	$(DEBUG_BUILD) --build-tests && \
		WHORL_KILLS=200 WHORL_CALLS=24000 $(TEST_ENVIRONMENT) SWIFT='$(SWIFT)' scripts/test --groups "8 9 10" || status=1; \
	WHORL_VALUES=30000 WHORL_SEED=$$(date +%Y%j) $(TEST_ENVIRONMENT) $(SWIFT) test --skip-build --filter ValueTests || status=1; \
	$(SWIFT) build -c $(CONFIG) $(SERVER_BUILD_FLAGS) --package-path Server --scratch-path $(SERVER_BUILD) --product whorl-login-server && \
		REQUIRE_PEERS=1 PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 Server/Tests/Peers/soak \
			$(SERVER_BUILD)/$(CONFIG)/whorl-login-server $(SOAK_LOGINS) || status=1; \
	$(MAKE) --no-print-directory program && GUEST_SECONDS=5400 $(MAKE) --no-print-directory test-system || status=1; \
	$(DEBUG_BUILD) --product generate-manual && $(DEBUG_BUILD) --product IdiomProbe && \
		$(SETTINGS_HELPER) -o .build/debug/whorl-settings-helper && \
		GUEST="$(GUEST)" GUEST_SECONDS=5400 WHORL_CLIENT_KILLS=500 WHORL_CLIENT_CALLS=24000 WHORL_SUDOS=200 WHORL_PRESSED_SUDOS=200 \
			WHORL_PRESSURE=3 scripts/test-system debug \
			test_clients_of_two_users_are_killed_and_nothing_acknowledged_is_lost \
			test_64_clients_of_four_users_lose_nothing_and_leave_nothing_behind \
			test_hostile_user_does_not_keep_another_from_sudo \
			test_c5_what_a_user_keeps_of_the_services_memory_takes_it_from_no_one_else \
			test_c11_what_the_refused_keep_takes_no_memory \
			test_c13_large_values_of_five_accounts_are_held_one_after_the_other \
			test_c13_messages_of_many_values_are_not_decoded \
			test_c13_flood_of_connections_leaves_the_others_their_logins \
			test_connections_that_have_ended_leave_no_memory_behind \
			test_c13_questions_that_no_one_answers_keep_no_other_users_calls_waiting \
			test_c13_service_does_not_leave_while_a_file_is_being_closed \
			test_c13_secrets_of_one_mebibyte_of_five_accounts_take_little_memory \
			test_c13_large_items_behind_prompts_of_five_accounts_take_little_memory \
			test_profile_is_enabled_again test_many_sudos_in_a_row_leave_no_process_and_no_descriptor || status=1; \
	SYSTEM_PACKAGES="sway swaylock wtype" GUEST="$(GUEST)" scripts/test-system $(CONFIG) \
		test_first_finger_and_passcode_are_refused_where_the_systems_rules_do_not_allow_them \
		test_first_passcode_takes_the_users_password_at_the_seat_and_not_a_wrong_one test_finger_is_enrolled_and_recognized \
		$$(sed -n 's/^def \(test_[a-z_]*\).*/\1/p' Tests/System/test_j_sway.py) || status=1; \
	SYSTEM_PACKAGES="gnome-control-center libgdm1 xvfb openbox at-spi2-core gir1.2-atspi-2.0 xdotool scrot adwaita-icon-theme librsvg2-common fonts-dejavu-core" \
		GUEST_MEMORY=2560 GUEST="$(GUEST)" scripts/test-system $(CONFIG) \
		test_first_finger_and_passcode_are_refused_where_the_systems_rules_do_not_allow_them \
		test_first_passcode_takes_the_users_password_at_the_seat_and_not_a_wrong_one test_finger_is_enrolled_and_recognized \
		$$(sed -n 's/^def \(test_[a-z_]*\).*/\1/p' Tests/System/test_k_gnome_settings.py) || status=1; \
	SYSTEM_PACKAGES="libkscreenlocker5 plasma-workspace plasma-framework xvfb xdotool openbox fonts-dejavu-core" GUEST="$(GUEST)" \
		scripts/test-system $(CONFIG) \
		test_first_finger_and_passcode_are_refused_where_the_systems_rules_do_not_allow_them \
		test_first_passcode_takes_the_users_password_at_the_seat_and_not_a_wrong_one test_finger_is_enrolled_and_recognized \
		$$(sed -n 's/^def \(test_[a-z_]*\).*/\1/p' Tests/System/test_k_kscreenlocker.py) || status=1; \
	scripts/setup --test-desktop && $(MAKE) --no-print-directory desktop && SYSTEM_DESKTOP=1 GUEST_MEMORY=2560 GUEST="$(GUEST)" \
		SYSTEM_PACKAGES="chromium libsecret-tools python3-keyring git xvfb xdotool libgtk-4-1 libadwaita-1-0 libgcr-base-3-1 fonts-dejavu-core" \
		scripts/test-system $(CONFIG) \
		test_first_finger_and_passcode_are_refused_where_the_systems_rules_do_not_allow_them \
		test_first_passcode_takes_the_users_password_at_the_seat_and_not_a_wrong_one test_finger_is_enrolled_and_recognized \
		$$(sed -n 's/^def \(test_[a-z_]*\).*/\1/p' Tests/System/test_l_keyring_prompter.py Tests/System/test_s_ssh_prompt.py) || status=1; \
	WHORL_KIOSK_ROUNDS=100 GUEST_SECONDS=3600 $(MAKE) --no-print-directory kiosk || status=1; \
	scripts/check-consumer .build/debug/whorl || status=1; \
	scripts/check-samples .build/debug/whorl || status=1; \
	scripts/check-apple-names || status=1; \
	Library/sanitize $(LIB_BUILD)/address .build/debug/whorld || status=1; \
	scripts/setup --test-ssh && SSH/build $(SSH_BUILD)/address address && WHORL_SSH_LOGINS=500 WHORL_SSH_REQUESTS=1008 \
		SSH/test $(SSH_BUILD)/address/whorl-ssh-agent .build/debug/whorl .build/debug/whorld || status=1; \
	scripts/setup --arm64 && scripts/check-arm64 .build/debug/whorld || status=1; \
	$(MAKE) --no-print-directory test-deb || status=1; \
	$(MAKE) --no-print-directory test-desktop || status=1; \
	$(MAKE) --no-print-directory test-kiosk || status=1; \
	$(MAKE) --no-print-directory test-container || status=1; \
	$(MAKE) --no-print-directory test-trixie || status=1; \
	$(MAKE) --no-print-directory test-dependency || status=1; \
	$(MAKE) --no-print-directory test-upgrade || status=1; \
	exit $$status

fuzz: setup-test ## fuzz everything that parses external input, each target for FUZZ_SECONDS (default: 60)
	SWIFT='$(SWIFT)' scripts/fuzz
	SSH/fuzz $(SSH_BUILD)/fuzzer
	$(DEBUG_BUILD) --build-tests
	WHORL_VALUES=10000 WHORL_SEED=$$(date +%Y%j) $(TEST_ENVIRONMENT) $(SWIFT) test --skip-build --filter ValueTests

format: ## format the Swift sources in place
	$(SWIFT) format --in-place --recursive $(FORMATTED)

clean: ## remove build products
	rm -rf .build .build-*

# --- files generated from the program ---------------------------------------------------------------------------------

man: ## generate the man pages of the built program in .build
	@test -x $(WHORL) -a -x $(PRODUCTS)/generate-manual || { echo "$(WHORL) is not built: run make build first" >&2; exit 1; }
	@rm -rf $(STAGE)/man && mkdir -p $(STAGE)/man
	$(PRODUCTS)/generate-manual $(WHORL) --multi-page --output-directory $(STAGE)/man \
		--date "$$(git log -1 --format=%cs 2>/dev/null || date +%F)"
	$(PRODUCTS)/generate-manual $(PRODUCTS)/whorl-simulate --output-directory $(STAGE)/man \
		--date "$$(git log -1 --format=%cs 2>/dev/null || date +%F)"
	@scripts/tidy-manual $(STAGE)/man

completions: ## generate the shell completions of the built program in .build
	@test -x $(WHORL) || { echo "$(WHORL) is not built: run make build first" >&2; exit 1; }
	@mkdir -p $(STAGE)/completions
	$(WHORL) --generate-completion-script bash >$(STAGE)/completions/bash
	@sed -i '1{/^#!/d;}' $(STAGE)/completions/bash  # it is read, not run
	$(WHORL) --generate-completion-script zsh >$(STAGE)/completions/zsh
	$(WHORL) --generate-completion-script fish >$(STAGE)/completions/fish

translations: ## compile the translations in .build
	@rm -rf $(STAGE)/locale && mkdir -p $(STAGE)/locale
	scripts/translations $(STAGE)/locale

# --- installation, which builds nothing, so that nothing is built as root ---------------------------------------------------

install: install-program install-service ## install to PREFIX (default: /usr/local) under DESTDIR, after make build

install-program:
	@test -x $(WHORL) -a -x $(PRODUCTS)/whorl-simulate -a -x $(PRODUCTS)/whorl-login-http -a -x $(PRODUCTS)/whorld -a -f $(STAGE)/man/whorl.1 -a -s $(STAGE)/completions/fish -a -d $(STAGE)/locale || \
		{ echo "$(WHORL), its man pages, completions or translations are not built: run make build first" >&2; exit 1; }
	@if ldd $(WHORL) | grep -q libswiftCore; then \
		echo "note: this build needs the Swift libraries where it runs; make build links them in" >&2; fi
	$(PLACE) install program
	@case ":$$PATH:" in *":$(BINDIR):"*) ;; *) [ -n "$(DESTDIR)" ] || \
		echo "note: $(BINDIR) is not in the PATH; this adds it: export PATH=\"$(BINDIR):\$$PATH\"" >&2 ;; esac

# The service owns the readers, and is enabled unless an administrator has disabled it. Package builds set DESTDIR; the
# package's scripts then do the rest on the target system.
install-service:
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" != 0 ]; then \
		echo "not root: the system's service was left out, which a real reader requires; to install it run: sudo make install-service" >&2; \
		exit 0; \
	fi; \
	enable=yes; \
	if [ -z "$(DESTDIR)" ] && [ -e "$(UNITDIR)/whorld.socket" ] && ! systemctl --quiet is-enabled whorld.socket 2>/dev/null; then \
		enable=; fi; \
	set -ex; \
	$(PLACE) install service; \
	rm -f "$(DESTDIR)$(UDEVDIR)/70-whorl.rules" "$(DESTDIR)$(SYSUSERSDIR)/whorl.conf"; \
	if [ ! -e "$(DESTDIR)$(CONFDIR)/whorld.conf" ]; then \
		install -D -m 644 systemd/whorld.conf "$(DESTDIR)$(CONFDIR)/whorld.conf"; fi; \
	$(FPRINTD_PLACE) take-free; \
	set +x; \
	if [ -z "$(DESTDIR)" ] && [ -d /run/systemd/system ]; then \
		systemd-sysusers "$(SYSUSERSDIR)/whorld.conf" && systemctl daemon-reload && "$(LIBEXECDIR)/close-readers" && \
		systemctl try-restart whorld.service && \
		if [ -n "$$enable" ]; then systemctl --quiet enable --now whorld.socket; \
		else echo "note: the service stays switched off; to switch it on: sudo systemctl enable --now whorld.socket" >&2; fi; fi

install-fprintd: ## replace an installed fprintd on the bus with the service, after make install; undone by make uninstall
	$(FPRINTD_PLACE) take

uninstall: ## remove installed files (keeps the user whorl, stored fingers and a changed configuration)
	$(PLACE) remove program
	@rmdir "$(DESTDIR)$(SHAREDIR)" 2>/dev/null || true # not ours alone
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" != 0 ]; then \
		if [ -e "$(UNITDIR)/whorld.socket" ]; then \
			echo "not root: the service is still installed; to remove it run: sudo make uninstall" >&2; \
		fi; \
		exit 0; \
	fi; \
	set -ex; \
	if [ -z "$(DESTDIR)" ] && [ -d /run/systemd/system ]; then \
		systemctl --quiet disable --now whorld.socket whorld.service 2>/dev/null || true; fi; \
	$(PLACE) remove service; \
	if cmp -s systemd/whorld.conf "$(DESTDIR)$(CONFDIR)/whorld.conf"; then \
		rm -f "$(DESTDIR)$(CONFDIR)/whorld.conf"; rmdir "$(DESTDIR)$(CONFDIR)" 2>/dev/null || true; fi; \
	rmdir "$(DESTDIR)$(LIBEXECDIR)" 2>/dev/null || true; \
	$(FPRINTD_PLACE) give-back; \
	set +x; \
	if [ -z "$(DESTDIR)" ] && [ -e /run/udev/control ]; then \
		udevadm control --reload && udevadm trigger --action=change --subsystem-match=usb --subsystem-match=spidev --subsystem-match=hidraw; fi

# --- the PAM module, for sudo and the login -------------------------------------------------------------------------------

pam: ## build the PAM module and check its dependencies; installs libpam0g-dev if it is missing
	@scripts/setup --pam
	WHORL_PAM_SHIPS=1 $(SWIFT) build -c release $(NO_HASH) --disable-local-rpath --package-path PAM --scratch-path $(PAM_BUILD) --product pam_whorl
	PAM/check $(PAM_MODULE)

test-pam: pam ## test the installed form of the PAM module, with libpam and a terminal
	SWIFT='$(SWIFT)' PAM/test $(PAM_MODULE) $(PAM_BUILD)-test

# The module is not used until a file in /etc/pam.d refers to it (Docs/PAM.md).
install-pam: ## install the PAM module, after make pam; an administrator must enable it for each PAM service
	@test -f $(PAM_MODULE) || { echo "the PAM module is not built: run make pam first" >&2; exit 1; }
	@test -n "$(PAMDIR)" || { echo "this system's folder of PAM modules is not known: set PAMDIR" >&2; exit 1; }
	$(PLACE) install pam

uninstall-pam: ## remove the PAM module, and its entries made by pam-auth-update
	@if [ -z "$(DESTDIR)" ] && grep -lsE '^[^#]*pam_whorl' /etc/pam.d/* | grep -v '/common-' | grep .; then \
		echo "error: these files name pam_whorl.so; take the lines out first" >&2; exit 1; fi
	@if [ -z "$(DESTDIR)" ] && command -v pam-auth-update >/dev/null; then pam-auth-update --package --remove whorl whorl-keyring; fi
	$(PLACE) remove pam

# --- libwhorl, for programs in C and other languages: Docs/Embedding.md ------------------------------------------------------

LIB_BUILD = .build-lib
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include

lib: ## build libwhorl and check its dependencies
	Library/build $(LIB_BUILD)
	Library/check $(LIB_BUILD)/libwhorl.so.1

test-lib: lib setup-test ## test libwhorl with the service of the debug build
	@scripts/setup --test-lib
	$(DEBUG_BUILD) $(SWIFT_TEST_FLAGS) --product whorld
	Library/test $(LIB_BUILD)/libwhorl.so.1 .build/debug/whorld

install-lib: ## install libwhorl, its header and its pkg-config file, after make lib
	@test -f $(LIB_BUILD)/libwhorl.so.1 || { echo "libwhorl is not built: run make lib first" >&2; exit 1; }
	$(PLACE) install lib

uninstall-lib: ## remove the files installed by install-lib
	$(PLACE) remove lib

# --- the SSH agent: Docs/SSH.md --------------------------------------------------------------------------------------------

SSH_BUILD = .build-ssh

ssh: ## build the SSH agent
	SSH/build $(SSH_BUILD)
	SSH/check $(SSH_BUILD)/whorl-ssh-agent

test-ssh: ssh setup-test ## test the SSH agent with the service of the debug build and OpenSSH
	@scripts/setup --test-ssh
	$(DEBUG_BUILD) $(SWIFT_TEST_FLAGS) --product whorld
	$(DEBUG_BUILD) $(SWIFT_TEST_FLAGS) --product whorl
	SSH/test $(SSH_BUILD)/whorl-ssh-agent .build/debug/whorl .build/debug/whorld

install-ssh: ## install the SSH agent, its units, the plugin of age and their man pages, after make ssh
	@test -x $(SSH_BUILD)/whorl-ssh-agent || { echo "the SSH agent is not built: run make ssh first" >&2; exit 1; }
	$(PLACE) install ssh

uninstall-ssh: ## remove the files installed by install-ssh
	$(PLACE) remove ssh

# --- Debian packages: Docs/Packages.md -------------------------------------------------------------------------------------

deb: build-deb ## build the release and create Debian packages in .build/deb
	SWIFT='$(SWIFT)' packaging/deb $(CONFIG)

build-deb:
	@scripts/setup --deb
	@$(MAKE) --no-print-directory build desktop pam lib ssh kiosk-greeter build-server

test-deb: build-deb ## build the packages, then install, upgrade and purge them in a booted system
	GUEST="$(GUEST)" SWIFT='$(SWIFT)' scripts/test-deb $(CONFIG)

# Options of packaging/release, such as --untagged.
RELEASE_OPTIONS ?=
release: ## build the packages for Debian 12 and 13, with checksums, bills of materials, notes and notices; requires root (slow)
	SWIFT='$(SWIFT)' packaging/release $(RELEASE_OPTIONS)

# --- the login server --------------------------------------------------------------------------------

build-server: setup-server ## build the login server's release and its man pages
	$(SWIFT) build -c $(CONFIG) $(SERVER_BUILD_FLAGS) --package-path Server --scratch-path $(SERVER_BUILD) --product whorl-login-server
	$(SWIFT) build -c $(CONFIG) $(SWIFT_BUILD_FLAGS) --product generate-manual
	@$(MAKE) --no-print-directory stage-server

stage-server:
	@test -x $(SERVER_BUILD)/$(CONFIG)/whorl-login-server -a -x $(PRODUCTS)/generate-manual || \
		{ echo "the login server is not built: run make build-server first" >&2; exit 1; }
	@rm -rf $(SERVER_STAGE) && mkdir -p $(SERVER_STAGE)/man
	install -m 755 $(SERVER_BUILD)/$(CONFIG)/whorl-login-server $(SERVER_STAGE)/whorl-login-server
	$(PRODUCTS)/generate-manual $(SERVER_STAGE)/whorl-login-server --multi-page --output-directory $(SERVER_STAGE)/man \
		--date "$$(git log -1 --format=%cs 2>/dev/null || date +%F)"
	@scripts/tidy-manual $(SERVER_STAGE)/man

test-container: ## build the login server's image, and sign in to a container made from it (as root)
	@scripts/setup --test-container
	SWIFT='$(SWIFT)' scripts/test-container

install-server: ## install the login server and its unit to PREFIX under DESTDIR, after make build-server; does not start it
	@test -x $(SERVER_STAGE)/whorl-login-server -a -f $(SERVER_STAGE)/man/whorl-login-server.1 || \
		{ echo "the login server is not built: run make build-server first" >&2; exit 1; }
	$(PLACE) install server
	@[ -e "$(DESTDIR)/etc/whorl-login-server.conf" ] || \
		install -D -m 644 Server/deploy/whorl-login-server.conf "$(DESTDIR)/etc/whorl-login-server.conf"

uninstall-server: ## remove the files installed by install-server, but keep options and data
	$(PLACE) remove server

desktop: ## build the desktop prompt, the settings and the keyring's prompter; installs their libraries if they are missing
	@scripts/setup --desktop
	$(SWIFT) build -c $(CONFIG) $(DESKTOP_BUILD_FLAGS) --package-path Desktop --scratch-path $(DESKTOP_BUILD) --product whorl-prompt
	$(SWIFT) build -c $(CONFIG) $(DESKTOP_BUILD_FLAGS) --package-path Desktop --scratch-path $(DESKTOP_BUILD) --product whorl-settings
	$(SWIFT) build -c $(CONFIG) $(DESKTOP_BUILD_FLAGS) --package-path Desktop --scratch-path $(DESKTOP_BUILD) --product whorl-keyring
	$(SWIFT) build -c $(CONFIG) $(DESKTOP_BUILD_FLAGS) --package-path Desktop --scratch-path $(DESKTOP_BUILD) --product whorl-keyring-dialog
	$(PROMPT_WAIT) -o $(DESKTOP_BUILD)/$(CONFIG)/whorl-prompt-wait
	$(SETTINGS_HELPER) -o $(DESKTOP_BUILD)/$(CONFIG)/whorl-settings-helper

test-desktop: ssh ## test the desktop programs on a separate screen, with the real service
	@scripts/setup --test-desktop
	$(SWIFT) build --package-path Desktop --scratch-path $(DESKTOP_BUILD) --product whorl-prompt
	$(SWIFT) build --package-path Desktop --scratch-path $(DESKTOP_BUILD) --product whorl-settings
	$(SWIFT) build --package-path Desktop --scratch-path $(DESKTOP_BUILD) --product whorl-keyring
	$(SWIFT) build --package-path Desktop --scratch-path $(DESKTOP_BUILD) --product whorl-keyring-dialog
	$(PROMPT_WAIT) -o $(DESKTOP_BUILD)/debug/whorl-prompt-wait
	$(SETTINGS_HELPER) -o $(DESKTOP_BUILD)/debug/whorl-settings-helper
	$(DEBUG_BUILD) --product whorl
	$(DEBUG_BUILD) --product whorld
	Desktop/test $(DESKTOP_BUILD)/debug/whorl-prompt .build/debug/whorl .build/debug/whorld

pictures: test-desktop ## create the README's pictures from the running programs; for the kiosk's, first run make kiosk
	scripts/pictures $(DESKTOP_BUILD)/debug/whorl-prompt .build/debug/whorl .build/debug/whorld

install-desktop: ## install the desktop prompt, which starts with each session, the settings and the keyring's prompter
	@test -x $(DESKTOP_BUILD)/$(CONFIG)/whorl-prompt -a -x $(DESKTOP_BUILD)/$(CONFIG)/whorl-settings -a -x $(DESKTOP_BUILD)/$(CONFIG)/whorl-keyring || { echo "Run make desktop first." >&2; exit 1; }
	$(PLACE) install desktop

uninstall-desktop: ## remove the desktop programs
	$(PLACE) remove desktop

# --- the kiosk, a sample: Docs/Kiosk.md -----------------------------------------------------------------------------------

kiosk-greeter: ## build the kiosk's screen; installs libgtk-4-dev if it is missing
	@scripts/setup --desktop
	$(SWIFT) build -c release $(DESKTOP_BUILD_FLAGS) --package-path Samples/kiosk --scratch-path $(KIOSK_BUILD) --product kiosk-greeter

KIOSK_DATADIR = $(PREFIX)/share/whorl-kiosk

# The settings and the list of badges belong to the administrator once they exist.
install-kiosk: ## turn this machine into a kiosk when it next starts: the screen, and the restrictions on its users
	@test -x $(KIOSK_BUILD)/release/kiosk-greeter || { echo "Run make kiosk-greeter first." >&2; exit 1; }
	$(PLACE) install kiosk
	@for file in kiosk.conf badges; do \
		[ -e "$(DESTDIR)$(CONFDIR)/$$file" ] || install -D -m 644 "Samples/kiosk/deploy/$$file" "$(DESTDIR)$(CONFDIR)/$$file"; done

uninstall-kiosk: ## undo install-kiosk when the machine next starts; keeps changed settings and badges
	$(PLACE) remove kiosk
	@for file in kiosk.conf badges; do \
		if cmp -s "Samples/kiosk/deploy/$$file" "$(DESTDIR)$(CONFDIR)/$$file"; then rm -f "$(DESTDIR)$(CONFDIR)/$$file"; fi; done

test-kiosk: ## test the kiosk's screen with a scripted greetd, as root
	@scripts/setup --test-desktop
	$(SWIFT) test --package-path Samples/kiosk --scratch-path $(KIOSK_BUILD)
	KIOSK_GREETER=$(abspath $(KIOSK_BUILD)/debug/kiosk-greeter) PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 Samples/kiosk/Tests/Screen/test_screen.py

kiosk: kiosk-greeter ## turn a booted Debian into a kiosk, and take pictures of its screen
	@scripts/setup --deb
	@$(MAKE) --no-print-directory build pam
	GUEST="$(GUEST)" SWIFT='$(SWIFT)' scripts/kiosk $(CONFIG)
