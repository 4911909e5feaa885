# SPDX-License-Identifier: GPL-2.0
# Examples, each one file. NAME.static needs no library on the target.

examples := cable

# A C library for static linking, and no sanitizer, which cannot be linked so.
have_static := $(if $(SANITIZE),,$(shell echo 'int main(void) { return 0; }' | \
	$(CC) -static -xc -o /dev/null - 2>/dev/null && echo y))

examples: $(examples:%=$(out)/%) $(if $(have_static),$(examples:%=$(out)/%.static))

$(out)/examples/%.o: $(src)/examples/%.c | $(out)/examples/
	$(call say,CC,$@)$(cc) -c -o $@ $<

$(examples:%=$(out)/%): $(out)/%: $(out)/examples/%.o $(lib_a)
	$(call say,LD,$@)$(CC) $(own_ldflags) $(LDFLAGS) -o $@ $^

$(examples:%=$(out)/%.static): $(out)/%.static: $(out)/examples/%.o $(lib_a)
	$(call say,LD,$@)$(CC) $(own_ldflags) $(LDFLAGS) -static -o $@ $^

-include $(examples:%=$(out)/examples/%.d)

.PHONY: examples
