# The reducer: its sources by room, its library for Lisp, and the command

report_base_sources = \
	report/base/budget.c report/base/budget.h \
	report/base/dictionary.c report/base/dictionary.h \
	report/base/fitted.c report/base/fitted.h \
	report/base/progress.c report/base/progress.h \
	report/base/output.c report/base/output.h \
	report/base/pool.c report/base/pool.h \
	report/base/scc.c report/base/scc.h \
	report/base/search.h \
	report/base/utf8.c report/base/utf8.h

report_data_sources = \
	report/data/profile.h \
	report/data/alive.c report/data/alive.h \
	report/data/keepers.c \
	report/data/copy.c report/data/copy.h \
	report/data/counted.c report/data/counters.c \
	report/data/curve.c \
	report/data/lives.c \
	report/data/log.c report/data/log.h \
	report/data/merge.c report/data/merge.h \
	report/data/read.c \
	report/data/reader.h \
	report/data/records.c report/data/refs.c \
	report/data/spills.c \
	report/data/trees.c report/data/trees.h

report_elf_sources = \
	report/elf/cxx_names.c report/elf/cxx_names.h \
	report/elf/dwarf_types.c report/elf/dwarf_types.h \
	report/elf/elf_file.c report/elf/elf_file.h \
	report/elf/inlines.c report/elf/inlines.h \
	report/elf/lines.c report/elf/lines.h \
	report/elf/symbols.c report/elf/symbols.h \
	report/elf/type_size.c \
	report/elf/types.c report/elf/types.h

report_graph_sources = \
	report/graph/breaker.c \
	report/graph/call_sites.c report/graph/call_sites.h \
	report/graph/focus.c report/graph/focus.h \
	report/graph/functions.c report/graph/functions.h \
	report/graph/graph.c report/graph/graph.h \
	report/graph/groups.c report/graph/groups.h \
	report/graph/join.c report/graph/join.h \
	report/graph/inlining.c report/graph/inlining.h \
	report/graph/lisp_types.c report/graph/lisp_types.h \
	report/graph/short_names.c \
	report/graph/sources.c \
	report/graph/same_name.c report/graph/same_name.h \
	report/graph/view.c 

report_tables_sources = \
	report/tables/bins.c report/tables/by_type.c \
	report/tables/callgraph.c report/tables/callgraph.h \
	report/tables/curve.c \
	report/tables/cycles.c \
	report/tables/diff.c report/tables/diff.h \
	report/tables/diff_print.c \
	report/tables/direct.c \
	report/tables/header.c \
	report/tables/merged.c \
	report/tables/finder.h \
	report/tables/findings.c report/tables/findings.h \
	report/tables/found_kept.c \
	report/tables/found_rows.c \
	report/tables/keepers.c \
	report/tables/kept_by.c \
	report/tables/limits.c report/tables/limits.h \
	report/tables/listing.c report/tables/listing.h \
	report/tables/loads.c \
	report/tables/path_tables.c \
	report/tables/paths.c report/tables/paths.h \
	report/tables/processes.c \
	report/tables/registry.c \
	report/tables/rows.c report/tables/rows.h \
	report/tables/sexp.c \
	report/tables/stats.h \
	report/tables/tables.h \
	report/tables/summary.c \
	report/tables/text.c \
	report/tables/through.c \
	report/tables/tree.c \
	report/tables/verdicts.c

report_export_sources = \
	report/export/callgrind.c \
	report/export/chains.c report/export/chains.h \
	report/export/clean.c \
	report/export/dhat.c report/export/difference.c \
	report/export/emacs.c \
	report/export/export.c report/export/export.h \
	report/export/folded.c \
	report/export/listing.c \
	report/export/pprof.c \
	report/export/profile_json.c \
	report/graph/samples.c report/graph/samples.h \
	report/export/speedscope.c \
	report/export/verdicts.c report/export/verdicts.h

report_html_sources = \
	report/html/heap.c \
	report/html/page.c report/html/page.h \
	report/html/source.c report/html/tree.c report/html/tree.h

# The page as it is in the browser, which page.c has within itself
html_assets = \
	report/html/page.html report/html/page.css \
	report/html/model.js report/html/summary.js report/html/graph.js \
	report/html/kept.js report/html/tables.js report/html/diff.js \
	report/html/page.js
EXTRA_DIST += $(html_assets) report/html/embed.awk
BUILT_SOURCES = report/html/assets.h
CLEANFILES += report/html/assets.h
report/html/assets.h: $(html_assets) report/html/embed.awk
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)set -- && for file in $(html_assets); do \
	set -- "$$@" $(srcdir)/$$file; done && \
	awk -f $(srcdir)/report/html/embed.awk "$$@" >$@.tmp && mv $@.tmp $@

report_command_sources = \
	report/command/budget_file.c report/command/budget_file.h \
	report/command/check.c \
	report/command/command.c report/command/command.h \
	report/command/commands.c \
	report/command/completion.c \
	report/command/curve.c \
	report/command/diff.c \
	report/command/export.c \
	report/command/html.c \
	report/command/library.c \
	report/command/list.c \
	report/command/option.c \
	report/command/options.c \
	report/command/report.h \
	report/command/report_command.c \
	report/command/screen.c report/command/screen.h \
	report/command/stats.c \
	report/command/together.c

if REPORT
lib_LTLIBRARIES += libmprof_report.la
report_rooms = libreport-base.la libreport-data.la libreport-elf.la \
	libreport-graph.la libreport-tables.la libreport-export.la \
	libreport-html.la libreport-command.la
noinst_LTLIBRARIES += $(report_rooms) libreport.la
bin_PROGRAMS += mprof
endif
libreport_base_la_SOURCES = $(report_base_sources) $(format_sources)
libreport_data_la_SOURCES = $(report_data_sources)
libreport_elf_la_SOURCES = $(report_elf_sources)
libreport_graph_la_SOURCES = $(report_graph_sources)
libreport_tables_la_SOURCES = $(report_tables_sources)
libreport_export_la_SOURCES = $(report_export_sources)
libreport_html_la_SOURCES = $(report_html_sources)
report/html/page.lo: report/html/assets.h
libreport_command_la_SOURCES = $(report_command_sources)
libreport_la_SOURCES =
libreport_la_LIBADD = $(report_rooms)
libmprof_report_la_SOURCES =
libmprof_report_la_LIBADD = libreport.la $(REPORT_LIBS)
libmprof_report_la_LDFLAGS = $(AM_LDFLAGS) -version-info 1:0:0 $(NO_UNDEFINED) \
	-export-symbols-regex '^mprof_report_(string|free)$$'

mprof_SOURCES = report/command/main.c report/command/run.c \
	report/command/run_wait.c

mprof_CPPFLAGS = $(AM_CPPFLAGS) -DMPROF_LIBDIR='"$(libdir)"'
mprof_LDADD = libreport.la $(REPORT_LIBS)

