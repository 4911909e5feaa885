# SPDX-License-Identifier: GPL-2.0
# gsotun: kernel module, userspace, tests. "make help" lists the targets.

# The kernel to build the module for; "make KDIR=..." for another one.
KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr/local
export PREFIX

# Kernels that the tests use, fetched by tests/vm/kernel.
KERNELS := $(shell tests/vm/kernel list)

# Parts of make check, in their order; "vm" has one part per kernel.
PARTS := style unit userspace harness $(KERNELS:%=vm-%)

all: userspace	## module (if there are headers) and userspace: the default

# Headers that were named must be there; those of the running kernel may not be,
# as in most containers, and everything but the module works without.
ifneq ($(wildcard $(KDIR)/Makefile)$(filter-out file,$(origin KDIR)),)
all: module
else
all: no-module
endif

no-module:
	@echo "The module is skipped: there are no kernel headers in $(KDIR)." \
		"Install linux-headers-$$(uname -r), or give KDIR=."

module:	## build/module/gsotun.ko for the running kernel, or for KDIR=
	+@tests/build-module $(KDIR) build/module

modules_install: module	## install the module, under DESTDIR if given
	$(MAKE) -C $(KDIR) M=$(CURDIR)/build/module \
		$(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) modules_install

userspace:	## library, command and examples, in build/userspace
	+@$(MAKE) --no-print-directory -C userspace

install: userspace	## install userspace to PREFIX (/usr/local), under DESTDIR if given
	+@$(MAKE) --no-print-directory -C userspace install

demo:	## real traffic through gsotun, in a VM; installs what it needs
	+@tests/demo/demo

deps:	## install the Debian packages that build and tests need
	@tests/vm/deps

kmod-%: deps	## build/kmod-NAME/gsotun.ko for a kernel of "tests/vm/kernel list"
	@tests/vm/kernel fetch $*
	+@tests/build-module $$(tests/vm/kernel headers $*) build/kmod-$* W=1

# One part after the other, also under -j: the VMs' timing suffers from company.
# All parts run even if one fails.
check:	## all tests; the last line counts them
	@rm -rf build/results
	+@for part in $(PARTS); do \
		$(MAKE) --no-print-directory check-$$part || :; \
	done
	@tests/summary total $(PARTS)

check-style: deps	## builds without a warning, sparse, checkpatch, shellcheck
	@tests/vm/kernel fetch $(KERNELS) source
	+@tests/summary run style tests/style

check-unit: deps	## tests of the userspace parts and of the core, on this machine
	+@tests/summary run unit $(MAKE) --no-print-directory -C tests/unit check

check-userspace: deps	## tests of library and command that need no module
	+@tests/summary run userspace $(MAKE) --no-print-directory -C userspace check

check-harness: deps	## tests of the tests' own tools
	@tests/vm/kernel fetch $(KERNELS)
	@tests/summary run harness sh -c 'tests/summary-test && tests/vm/selftest'

check-vm:	## tests in a VM on every supported kernel
	+@$(MAKE) --no-print-directory -k $(KERNELS:%=check-vm-%)

# Test programs are compiled here: in the emulated VM it would take minutes.
selftests: userspace
	+@$(if $(wildcard tests/selftests/Makefile),$(MAKE) --no-print-directory -C tests/selftests)

check-vm-%: kmod-% selftests	## tests in a VM on one kernel
	@tests/summary run vm-$* tests/vm/vm -k $* -t 1200 -o build/vm-$* \
		tests/selftests/run-in-vm

clean:	## remove what was built
	rm -rf build

distclean: clean	## remove the fetched kernels too
	tests/vm/kernel clean

help:	## this list
	@awk -F ':.*## ' '/^[a-z_%-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' \
		$(firstword $(MAKEFILE_LIST))

.PHONY: all no-module module modules_install userspace install demo deps \
	selftests check check-style check-unit check-userspace check-harness check-vm clean distclean help
