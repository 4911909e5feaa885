# SPDX-License-Identifier: GPL-2.0
# gsotun, the command, on libnl-3 and libnl-genl-3.

cli_objs := $(patsubst %,$(out)/cli/%.o,args link_args link_info main nl print queues \
	cmd/link_add cmd/link_del cmd/link_set cmd/link_show cmd/queue_show)

PKG_CONFIG ?= pkg-config
nl_cflags = $(shell $(PKG_CONFIG) --cflags libnl-3.0 libnl-genl-3.0)
nl_libs = $(shell $(PKG_CONFIG) --libs libnl-3.0 libnl-genl-3.0)

cli: $(out)/gsotun

$(cli_objs): $(out)/cli/%.o: $(src)/cli/%.c | $(out)/cli/cmd/
	$(call say,CC,$@)$(cc) -I$(src)/cli $(nl_cflags) -c -o $@ $<

$(out)/gsotun: $(cli_objs) $(lib_a)
	$(call say,LD,$@)$(CC) $(own_ldflags) $(LDFLAGS) -o $@ $^ $(nl_libs)

install-cli: cli
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(out)/gsotun $(DESTDIR)$(PREFIX)/bin/

-include $(cli_objs:.o=.d)

.PHONY: cli install-cli
