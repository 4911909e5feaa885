# SPDX-License-Identifier: LGPL-2.1 OR MIT
# libgsotun: shared and static, and what belongs to them.

lib_objs := $(patsubst %,$(out)/lib/%.o,attach from_user link text to_user wait)
lib_map := $(src)/lib/libgsotun.map
lib_soname := libgsotun.so.0
lib_so := $(out)/libgsotun.so.$(version)
lib_a := $(out)/libgsotun.a

# Symbols of every release. A new one is added to the map, on purpose, and here.
lib_symbols := 24

lib: $(lib_a) $(lib_so) $(out)/libgsotun.pc $(out)/lib/header.ok

$(out)/lib/%.o: $(src)/lib/%.c | $(out)/lib/
	$(call say,CC,$@)$(cc) -fPIC -I$(top)/module -c -o $@ $<

$(lib_a): $(lib_objs)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(lib_so): $(lib_objs) $(lib_map)
	$(call say,LD,$@)$(CC) $(own_ldflags) $(LDFLAGS) -shared -Wl,-soname,$(lib_soname) \
		-Wl,--version-script=$(lib_map) -Wl,-Bsymbolic-functions \
		$(if $(SANITIZE),,-Wl,-z,defs) -o $@ $(lib_objs)
	@n=$$(nm -D --defined-only $@ | grep -c ' T gsotun_'); \
		[ $$n = $(lib_symbols) ] || \
		{ echo "$@ exports $$n symbols, not $(lib_symbols)" >&2; rm -f $@; exit 1; }
	@ln -sf $(@F) $(out)/$(lib_soname)
	@ln -sf $(lib_soname) $(out)/libgsotun.so

$(out)/libgsotun.pc: $(src)/lib/libgsotun.pc.in $(src)/lib/gsotun.h $(src)/lib/rules.mk | $(out)/lib/
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(version)|' $< >$@

# The header stands alone, in C and in C++.
$(out)/lib/header.ok: $(src)/lib/gsotun.h $(top)/include/uapi/linux/gsotun.h | $(out)/lib/
	@$(CC) -std=c11 -Wall -Wextra -Wpedantic -Werror -I$(top)/include/uapi \
		-fsyntax-only -xc $<
	@! command -v $(CXX) >/dev/null || $(CXX) -std=c++11 -Wall -Wextra -Wpedantic \
		-Werror -I$(top)/include/uapi -fsyntax-only -xc++ $<
	@touch $@

# The .pc file again, because PREFIX may be another one now.
install-lib: lib
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include/linux
	install -m 644 $(lib_a) $(DESTDIR)$(PREFIX)/lib/
	install -m 755 $(lib_so) $(DESTDIR)$(PREFIX)/lib/
	ln -sf $(notdir $(lib_so)) $(DESTDIR)$(PREFIX)/lib/$(lib_soname)
	ln -sf $(lib_soname) $(DESTDIR)$(PREFIX)/lib/libgsotun.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(version)|' \
		$(src)/lib/libgsotun.pc.in >$(DESTDIR)$(PREFIX)/lib/pkgconfig/libgsotun.pc
	install -m 644 $(src)/lib/gsotun.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 $(top)/include/uapi/linux/gsotun.h $(DESTDIR)$(PREFIX)/include/linux/

-include $(lib_objs:.o=.d)

.PHONY: lib install-lib
