# Tests.  A program is made of the C file of the same name and of tests/support,
# and may use everything that the two libraries hide; support/fake.c takes the
# place of ECL.  The scripts (tests/*.test) run ECL with what was just built,
# installed or not: tests/ecldir is ECL's folder of modules with the new module in
# it.

c_tests = \
	tests/monitor/base/test_loaded \
	tests/monitor/base/test_objects \
	tests/monitor/base/test_self \
	tests/monitor/base/test_table \
	tests/monitor/graph/test_dominators \
	tests/monitor/graph/test_keepers \
	tests/monitor/format/test_bytes \
	tests/monitor/format/test_claim \
	tests/monitor/file/test_arena \
	tests/monitor/record/test_c_heap \
	tests/monitor/tree/test_counters \
	tests/monitor/tree/test_c_counter \
	tests/monitor/tree/test_lisp_counter \
	tests/monitor/file/test_cut \
	tests/monitor/heap/test_live \
	tests/monitor/names/test_names \
	tests/monitor/heap/test_sampling \
	tests/monitor/file/test_save \
	tests/monitor/tree/test_spill \
	tests/monitor/tree/test_tree \
	tests/monitor/tree/test_broken_tree \
	tests/monitor/api/test_monitor \
	tests/monitor/api/test_data_file \
	tests/report/base/test_base \
	tests/report/data/test_copy \
	tests/report/data/test_damage \
	tests/report/data/test_fits \
	tests/report/data/test_merge \
	tests/report/data/test_numbers \
	tests/report/data/test_read \
	tests/report/data/test_refused \
	tests/report/elf/test_cxx_names \
	tests/report/elf/test_inlines \
	tests/report/elf/test_symbols \
	tests/report/elf/test_types \
	tests/report/graph/test_graph \
	tests/report/graph/test_inlined_views \
	tests/report/graph/test_join \
	tests/report/graph/test_killed \
	tests/report/graph/test_naive \
	tests/report/graph/test_plumbing \
	tests/report/graph/test_replay \
	tests/report/graph/test_scopes \
	tests/report/graph/test_sources \
	tests/report/graph/test_totals \
	tests/report/command/test_command \
	tests/report/tables/test_c_tables \
	tests/report/tables/test_curve \
	tests/report/tables/test_hidden \
	tests/report/tables/test_leaks \
	tests/report/tables/test_limits \
	tests/report/tables/test_paths \
	tests/report/tables/test_tables

# Of the walk that is ours
walk_tests = \
	tests/monitor/walk/test_cells \
	tests/monitor/walk/test_memo \
	tests/monitor/record/test_threads \
	tests/monitor/ecl/test_entries \
	tests/monitor/unwind/test_marks \
	tests/monitor/unwind/test_rules \
	tests/monitor/unwind/test_walk
if !WALK_OTHER
c_tests += $(walk_tests)
endif

# Of Lisp, of C, and of how all this is built

ecl_tests = \
	tests/run-alive.test \
	tests/run-budget.test \
	tests/run-ecl-suite.test \
	tests/run-embed.test \
	tests/run-exact.test \
	tests/run-focus.test \
	tests/run-heaps.test \
	tests/run-kept-lisp.test \
	tests/run-lambdas.test \
	tests/run-limit-lisp.test \
	tests/run-lisp.test \
	tests/run-names.test \
	tests/run-slime.test \
	tests/run-sources.test \
	tests/run-summary.test \
	tests/run-tables.test \
	tests/run-unpatched.test \
	tests/run-terminal.test \
	tests/run-together.test \
	tests/run-types.test \
	tests/run-walks.test

c_script_tests = \
	tests/run-aarch64.test \
	tests/run-allocators.test \
	tests/run-damaged.test \
	tests/run-diff.test \
	tests/run-docs.test \
	tests/run-exports.test \
	tests/run-html.test \
	tests/run-figures.test \
	tests/run-files.test \
	tests/run-fuzz.test \
	tests/run-hostile.test \
	tests/run-inside.test \
	tests/run-interfaces.test \
	tests/run-kept.test \
	tests/run-limits.test \
	tests/run-log.test \
	tests/run-lost.test \
	tests/run-manpages.test \
	tests/run-portable.test \
	tests/run-peaks.test \
	tests/run-processes.test \
	tests/run-refused.test \
	tests/run-sanitized.test \
	tests/run-situations.test \
	tests/run-stacks.test \
	tests/run-stress.test \
	tests/run-suites.test \
	tests/run-tsan.test \
	tests/run-unrecorded.test \
	tests/run-valgrind.test \
	tests/run-whose.test \
	tests/run-world.test

build_tests = \
	tests/run-built.test \
	tests/run-imports.test \
	tests/run-rooms.test \
	tests/run-scripts.test

libtests_la_SOURCES = \
	tests/support/check.h tests/support/fits.h tests/support/folder.h \
	tests/support/graph.h tests/support/parse.h tests/support/parsed.h \
	tests/support/tree.h \
	tests/support/datafile.c tests/support/datafile.h \
	tests/support/fake.c tests/support/fake.h \
	tests/support/made.c tests/support/made.h \
	tests/support/golden.c tests/support/golden.h \
	tests/support/replay.c tests/support/replay.h \
	tests/support/self.h \
	tests/support/small.c tests/support/small.h \
	tests/support/world.c tests/support/world.h
libtests_la_LIBADD = libreport.la libmonitor.la
tests_monitor_ecl_test_entries_SOURCES = tests/monitor/ecl/test_entries.c \
	monitor/ecl/entries.c
tests_monitor_ecl_test_entries_CPPFLAGS = $(AM_CPPFLAGS)
LDADD = libtests.la $(CMOCKA_LIBS) $(REPORT_LIBS) -lgcc_s

# wanted_tests are those that there should be, built_tests those that can be built.
check_PROGRAMS =
check_LTLIBRARIES =
check_DATA =
built_tests =
wanted_tests =
comparing_libraries =
if !WALK_OTHER
comparing_libraries += libmonitor_check.la libmprof_malloc_check.la
endif
if REPORT
check_PROGRAMS += $(fuzz_replays) tests/fuzz/make_seeds
check_DATA += tests/fuzz/corpus/stamp
wanted_tests += $(c_tests)
if CMOCKA
check_PROGRAMS += $(c_tests)
check_LTLIBRARIES += libtests.la
built_tests += $(c_tests)
endif
if !SANITIZE
wanted_tests += $(c_script_tests) $(build_tests)
if ECL
wanted_tests += $(ecl_tests)
built_tests += $(ecl_tests)
check_DATA += tests/ecldir/stamp
check_LTLIBRARIES += libmprof_check.la tests/oracle/gc_count.la
endif
built_tests += $(c_script_tests) $(build_tests)
check_PROGRAMS += tests/oracle/sums
check_LTLIBRARIES += tests/oracle/malloc_count.la
check_LTLIBRARIES += $(comparing_libraries)
endif
endif
TESTS = $(built_tests)
TEST_EXTENSIONS = .test
LOG_COMPILER = $(srcdir)/tests/timed
TEST_LOG_COMPILER = $(srcdir)/tests/timed

# What the fuzzer calls.  replay_* are for any compiler, and call it with files;
# in fuzzing/ clang makes programs of the same, and of what they use.

fuzz_targets = data elf log options
fuzz_replays = tests/fuzz/replay_data tests/fuzz/replay_elf \
	tests/fuzz/replay_log tests/fuzz/replay_options
if !WALK_OTHER
fuzz_targets += unwind
fuzz_replays += tests/fuzz/replay_unwind
endif
fuzz_parts = tests/fuzz/fuzz.h tests/fuzz/replay.c tests/fuzz/support.c
fuzz_libraries = libreport.la libmonitor.la $(REPORT_LIBS)
tests_fuzz_replay_data_SOURCES = tests/fuzz/fuzz_data.c $(fuzz_parts)
tests_fuzz_replay_data_LDADD = $(fuzz_libraries)
tests_fuzz_replay_elf_SOURCES = tests/fuzz/fuzz_elf.c $(fuzz_parts)
tests_fuzz_replay_elf_LDADD = $(fuzz_libraries)
tests_fuzz_replay_log_SOURCES = tests/fuzz/fuzz_log.c $(fuzz_parts)
tests_fuzz_replay_log_LDADD = $(fuzz_libraries)
tests_fuzz_replay_options_SOURCES = tests/fuzz/fuzz_options.c $(fuzz_parts) \
	monitor/malloc/environment.c
tests_fuzz_replay_options_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_replay_options_LDADD = $(fuzz_libraries)
tests_fuzz_replay_unwind_SOURCES = tests/fuzz/fuzz_unwind.c $(fuzz_parts)
tests_fuzz_replay_unwind_LDADD = $(fuzz_libraries)
tests_fuzz_make_seeds_SOURCES = tests/fuzz/make_seeds.c tests/fuzz/fuzz.h \
	tests/support/datafile.c tests/support/small.c
tests_fuzz_make_seeds_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_make_seeds_LDADD = -lz
tests/fuzz/corpus/stamp: tests/fuzz/make_seeds$(EXEEXT) tests/fuzz/make-corpus \
	tests/fuzz/module.c tests/fuzz/module.cc
	$(AM_V_GEN)CC='$(CC)' CXX='$(CXX)' $(srcdir)/tests/fuzz/make-corpus \
	tests/fuzz/corpus tests/fuzz/make_seeds$(EXEEXT) && : >$@

CLANG = clang
SECONDS = 60
fuzz_cflags = -std=gnu11 -O0 -g1 -fno-omit-frame-pointer $(WARN_CFLAGS) \
	-fno-sanitize-recover=all
fuzz_objects = $(patsubst %.c,fuzzing/%.o,$(filter %.c,$(format_sources) \
	$(base_sources) $(unwind_sources) $(arch_sources) $(report_base_sources) \
	$(report_data_sources) $(report_elf_sources) $(report_graph_sources) \
	$(report_tables_sources) $(report_export_sources) \
	$(report_html_sources) $(report_command_sources) \
	monitor/malloc/environment.c \
	tests/fuzz/support.c))
fuzz_programs = $(fuzz_targets:%=fuzzing/fuzz_%)

fuzzing/%.o: %.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CC)$(CLANG) $(fuzz_cflags) -fsanitize=fuzzer-no-link,address,undefined \
	$(DEFAULT_INCLUDES) $(AM_CPPFLAGS) -MMD -MP -c $< -o $@
fuzzing/report/html/page.o: report/html/assets.h
fuzzing/fuzzed.a: $(fuzz_objects)
	$(AM_V_GEN)rm -f $@ && $(AR) cr $@ $(fuzz_objects)
fuzzing/fuzz_%: fuzzing/tests/fuzz/fuzz_%.o fuzzing/fuzzed.a
	$(AM_V_CCLD)$(CLANG) -fsanitize=fuzzer,address,undefined $^ $(REPORT_LIBS) -o $@
fuzz-targets: $(fuzz_programs)
fuzz-replays: $(fuzz_replays) tests/fuzz/corpus/stamp
fuzz: tests/fuzz/corpus/stamp
	@$(srcdir)/tests/fuzz/has-fuzzer '$(CLANG)'
	@$(MAKE) $(AM_MAKEFLAGS) fuzz-targets
	@$(srcdir)/tests/fuzz/fuzz fuzzing tests/fuzz/corpus $(SECONDS) $(fuzz_targets)
.PHONY: fuzz fuzz-targets fuzz-replays
.PRECIOUS: fuzzing/%.o
-include $(fuzz_objects:.o=.d) $(fuzz_targets:%=fuzzing/tests/fuzz/fuzz_%.d)

# The monitor that takes every chain twice

check_sources = $(monitor_sources) tests/support/check_walk.c
check_cflags = $(AM_CFLAGS) -DMPROF_CHECK_WALKS -DMPROF_CHECKS $(UNWIND_CFLAGS)
check_ldflags = -module -avoid-version -rpath /nowhere -Wl,-z,nodelete
libmonitor_check_la_SOURCES = $(check_sources)
libmonitor_check_la_CFLAGS = $(check_cflags)
libmprof_check_la_SOURCES = $(ecl_sources) $(hook_sources)
libmprof_check_la_CFLAGS = $(check_cflags)
libmprof_check_la_LIBADD = libmonitor_check.la $(ECL_LIBS) $(UNWIND_LIBS) -lgcc_s
libmprof_check_la_LDFLAGS = $(check_ldflags)
libmprof_malloc_check_la_SOURCES = $(malloc_sources) $(hook_sources) \
	$(backtrace_sources)
libmprof_malloc_check_la_CFLAGS = $(check_cflags)
libmprof_malloc_check_la_LIBADD = libmonitor_check.la $(UNWIND_LIBS) -lgcc_s
libmprof_malloc_check_la_LDFLAGS = $(check_ldflags)

# Count what the collector and malloc() are asked for; the plain reader
tests_oracle_sums_LDADD =
tests_oracle_gc_count_la_LDFLAGS = -module -avoid-version -rpath /nowhere
tests_oracle_malloc_count_la_SOURCES = tests/oracle/malloc_count.c \
	tests/oracle/history.c tests/oracle/history.h
tests_oracle_malloc_count_la_LDFLAGS = -module -avoid-version -rpath /nowhere

AM_TESTS_ENVIRONMENT = \
	builddir='$(abs_builddir)'; \
	MPROF='$(abs_builddir)/mprof'; MPROF_ECL='$(ECL)'; \
	ECLDIR='$(abs_builddir)/tests/ecldir/'; \
	MPROF_LIBRARY='$(abs_builddir)/.libs/libmprof.so'; \
	MPROF_MALLOC_LIBRARY='$(abs_builddir)/.libs/libmprof_malloc.so'; \
	MPROF_ECL_LIBRARY='$(abs_builddir)/.libs/libmprof_ecl.so'; \
	MPROF_MALLOC_ARCHIVE='$(abs_builddir)/.libs/libmprof_malloc.a'; \
	MPROF_INCLUDE='$(abs_srcdir)/monitor/include'; CXX='$(CXX)'; \
	MPROF_REPORT_LIBRARY='$(abs_builddir)/.libs/libmprof_report.so'; \
	ORACLE='$(abs_builddir)/tests/oracle/.libs/gc_count.so'; \
	MALLOC_COUNT='$(abs_builddir)/tests/oracle/.libs/malloc_count.so'; \
	SUMS='$(abs_builddir)/tests/oracle/sums'; \
	CC='$(CC)'; ECL_CONFIG='$(ECL_CONFIG)'; \
	MPROF_HAVE_LIBUNWIND='$(have_libunwind)'; MPROF_HAVE_CMOCKA='$(have_cmocka)'; \
	MPROF_C_TESTS='$(c_tests)'; \
	MPROF_FUZZ_TARGETS='$(fuzz_targets)'; MPROF_CLANG='$(CLANG)'; \
	MPROF_TESTS='$(built_tests)'; MPROF_WANTED_TESTS='$(wanted_tests)'; \
	export builddir MPROF MPROF_ECL ECLDIR MPROF_LIBRARY \
	MPROF_MALLOC_LIBRARY MPROF_MALLOC_ARCHIVE MPROF_INCLUDE CXX \
	MPROF_ECL_LIBRARY \
	MPROF_REPORT_LIBRARY ORACLE MALLOC_COUNT SUMS CC ECL_CONFIG \
	MPROF_HAVE_LIBUNWIND MPROF_HAVE_CMOCKA MPROF_C_TESTS \
	MPROF_FUZZ_TARGETS MPROF_CLANG MPROF_TESTS MPROF_WANTED_TESTS; \
	unset MPROF_DATA;

tests/ecldir/stamp: lisp/mprof.fas lisp/mprof-swank.fas
	$(AM_V_GEN)rm -rf tests/ecldir && $(MKDIR_P) tests/ecldir && \
	ln -s $(ECL_HOME)/* tests/ecldir && rm -f tests/ecldir/mprof[.-]* && \
	ln -s $(abs_builddir)/lisp/mprof.fas $(abs_builddir)/lisp/mprof-swank.fas \
	tests/ecldir && : >$@

# Only what depends on which ECL it is.
lisp_check_libraries = libmprof_check.la tests/oracle/gc_count.la \
	tests/oracle/malloc_count.la $(comparing_libraries)
version_tests = tests/run-ecl-suite.test tests/run-walks.test tests/run-exact.test \
	tests/run-alive.test tests/run-embed.test tests/run-kept-lisp.test tests/run-lambdas.test \
	tests/run-lisp.test tests/run-names.test tests/run-sources.test \
	tests/run-types.test tests/run-unpatched.test
check-lisp: all
	MPROF_WALK_PARTS='workloads sum' $(MAKE) $(AM_MAKEFLAGS) check-TESTS \
	TESTS='$(version_tests)' \
	check_PROGRAMS=tests/oracle/sums check_LTLIBRARIES='$(lisp_check_libraries)'

# In two parts, for bootstrap: what depends on time runs when nothing else does.  What
# takes longest is begun first, so that another job does the rest meanwhile.
longest_tests = $(filter $(built_tests), \
	tests/run-walks.test tests/run-sanitized.test tests/run-suites.test \
	tests/run-ecl-suite.test tests/run-html.test tests/run-alive.test \
	tests/run-fuzz.test tests/run-portable.test tests/run-valgrind.test \
	tests/run-lisp.test tests/run-exact.test tests/run-world.test)
serial_tests = $(filter $(built_tests),tests/run-stress.test)
parallel_tests = $(longest_tests) \
	$(filter-out $(longest_tests) $(serial_tests),$(built_tests))
# What is there for tests only is compiled sooner like this.
check-parallel: all
	$(MAKE) $(AM_MAKEFLAGS) check CFLAGS='$(CFLAGS) -O1' TESTS='$(parallel_tests)'
check-serial: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(serial_tests)'
# What shows most mistakes within three minutes
quick_tests = $(filter $(built_tests),$(filter-out %/test_live %/test_killed, \
	$(c_tests)) tests/run-rooms.test tests/run-docs.test tests/run-summary.test \
	tests/run-manpages.test tests/run-diff.test tests/run-terminal.test \
	tests/run-budget.test tests/run-files.test)
check-quick: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(quick_tests)'
.PHONY: check-lisp check-parallel check-serial check-quick

# The names of the tests that these run
check-names:
	@for test in $(wanted_tests); do echo "$$test"; done
check-lisp-names:
	@for test in $(version_tests); do echo "$$test"; done
.PHONY: check-names check-lisp-names

# One script, perhaps with arguments: TEST='tests/run-situations.test exceptions'
by-hand: all $(check_PROGRAMS) $(check_LTLIBRARIES) $(check_DATA)
	@$(AM_TESTS_ENVIRONMENT) sh $(srcdir)/$(TEST)
.PHONY: by-hand

# Which small mistakes the tests find (see tests/mutate), in a copy of the sources
# and a build of that; MUTANTS='monitor/unwind report/elf' chooses.  What an earlier
# run changed is compiled anew.
mutant_lists = tests/mutants/monitor tests/mutants/report
mutate:
	@rm -rf mutants/source && $(MKDIR_P) mutants/build && \
	$(MAKE) $(AM_MAKEFLAGS) -s distdir distdir=mutants/source && cd mutants/build && \
	{ test -f Makefile || eval "../source/configure -q \
	$$(../../config.status --config) --disable-werror"; } && \
	if test -f mutated; then (cd ../source && xargs -r touch) <mutated; fi && \
	$(MAKE) -s by-hand TEST='tests/mutate $(mutant_lists) -- $(MUTANTS)'
.PHONY: mutate

bench: all tests/ecldir/stamp
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/tests/bench/run
.PHONY: bench

# $(call found,PATTERNS): the files of the sources that match
found = $(patsubst $(srcdir)/%,%,$(sort $(wildcard $(addprefix $(srcdir)/,$(1)))))
read_by_tests = $(call found,tests/*.sh tests/*.test tests/*.awk tests/bench/* \
	tests/data/* tests/fuzz/found/* tests/fuzz/seeds/* tests/mutants/* tests/programs/* \
	$(addprefix tests/oracle/*.,el html js lsp py))
EXTRA_DIST += $(walk_tests:=.c) $(read_by_tests) \
	tests/fresh-install tests/fresh-machine tests/imports tests/mutate tests/results \
	tests/timed tests/world \
	tests/fuzz/fuzz tests/fuzz/has-fuzzer tests/fuzz/make-corpus tests/fuzz/replay-all \
	tests/fuzz/module.c tests/fuzz/module.cc
