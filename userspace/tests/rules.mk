# SPDX-License-Identifier: GPL-2.0
# Tests that need no module; "make check" runs them under sanitizers.

lib_tests := lib_test lib_stress
test_programs := $(patsubst %,$(out)/tests/%,$(lib_tests) print_test live_test)

tests: $(test_programs) cli examples

$(out)/tests/%.o: $(src)/tests/%.c | $(out)/tests/
	$(call say,CC,$@)$(cc) -I$(top)/module -I$(src)/cli -c -o $@ $<

$(lib_tests:%=$(out)/tests/%): $(out)/tests/%: $(out)/tests/%.o $(out)/tests/world.o $(lib_a)
	$(call say,LD,$@)$(CC) $(own_ldflags) $(LDFLAGS) -o $@ $^

# Needs the module: to be run in a VM.
$(out)/tests/live_test: $(out)/tests/live_test.o $(lib_a)
	$(call say,LD,$@)$(CC) $(own_ldflags) $(LDFLAGS) -o $@ $^

$(out)/tests/print_test: $(out)/tests/print_test.o $(out)/cli/print.o
	$(call say,LD,$@)$(CC) $(own_ldflags) $(LDFLAGS) -o $@ $^

check:
	@$(MAKE) --no-print-directory -C $(src) SANITIZE=address,undefined tests
	@$(MAKE) --no-print-directory -C $(src) SANITIZE=thread tests
	@$(src)/tests/run $(top)/build/userspace-address $(top)/build/userspace-thread

-include $(patsubst %,$(out)/tests/%.d,world $(lib_tests) print_test live_test)

.PHONY: tests check
