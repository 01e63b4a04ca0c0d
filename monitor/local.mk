# The monitor: its sources by room, and its two libraries

format_sources = \
	monitor/include/mprof.h \
	monitor/format/bytes.c monitor/format/bytes.h \
	monitor/format/claim.c monitor/format/claim.h \
	monitor/format/crc.c monitor/format/crc.h \
	monitor/format/create.c monitor/format/create.h \
	monitor/format/format.h monitor/format/counter.h \
	monitor/format/events.h \
	monitor/format/group.h \
	monitor/format/keeper.h \
	monitor/format/missed.c monitor/format/missed.h \
	monitor/format/naming.c monitor/format/naming.h \
	monitor/format/paths.h \
	monitor/format/runnable.c monitor/format/runnable.h \
	monitor/format/runtime_names.c monitor/format/runtime_names.h \
	monitor/format/plumbing.c monitor/format/plumbing.h \
	monitor/format/process.c monitor/format/process.h

base_sources = \
	monitor/base/atomic.h \
	monitor/base/chunks.c monitor/base/chunks.h \
	monitor/base/elf_image.c monitor/base/elf_image.h \
	monitor/base/exports.c monitor/base/exports.h \
	monitor/base/invariant.c monitor/base/invariant.h \
	monitor/base/loaded.c monitor/base/loaded.h \
	monitor/base/objects.c monitor/base/objects.h \
	monitor/base/sampled.c monitor/base/sampled.h \
	monitor/base/self.c monitor/base/self.h \
	monitor/base/table.c monitor/base/table.h

file_sources = \
	monitor/file/arena.c monitor/file/arena.h \
	monitor/file/blocks.c monitor/file/blocks.h \
	monitor/file/complete.c monitor/file/complete.h \
	monitor/file/cut.c monitor/file/cut.h \
	monitor/file/index.c monitor/file/index.h \
	monitor/file/save.c monitor/file/save.h \
	monitor/file/sums.c monitor/file/sums.h

names_sources = \
	monitor/names/adapter.h \
	monitor/names/modules.c monitor/names/modules.h \
	monitor/names/names.c monitor/names/names.h \
	monitor/names/parts.c monitor/names/parts.h \
	monitor/names/shown.c monitor/names/shown.h \
	monitor/names/sites.c monitor/names/sites.h \
	monitor/names/symbols.c monitor/names/symbols.h

heap_sources = \
	monitor/heap/alive.c monitor/heap/alive.h \
	monitor/heap/collections.c monitor/heap/collections.h \
	monitor/heap/curve.c monitor/heap/curve.h \
	monitor/heap/equals.c monitor/heap/equals.h \
	monitor/heap/live.c monitor/heap/live.h \
	monitor/heap/sampling.c monitor/heap/sampling.h

tree_sources = \
	monitor/tree/c_counter.c monitor/tree/c_counter.h \
	monitor/tree/counters.c monitor/tree/counters.h \
	monitor/tree/lisp_counter.c monitor/tree/lisp_counter.h \
	monitor/tree/short.c monitor/tree/short.h \
	monitor/tree/spill.c monitor/tree/spill.h \
	monitor/tree/sum_up.c \
	monitor/tree/totals.c monitor/tree/totals.h \
	monitor/tree/tree.c monitor/tree/tree.h \
	monitor/tree/tree_check.c \
	monitor/tree/trees.c monitor/tree/trees.h

walk_sources = \
	$(remembered_sources) \
	monitor/walk/cell.h \
	monitor/walk/deepest.c monitor/walk/deepest.h \
	monitor/walk/memo.h \
	monitor/walk/plainly.h \
	monitor/walk/remembered.h \
	monitor/walk/revise.h

log_sources = \
	monitor/log/group.c monitor/log/group.h \
	monitor/log/log.c monitor/log/log.h \
	monitor/log/log_file.c monitor/log/log_file.h

graph_sources = \
	monitor/graph/dominators.c \
	monitor/graph/graph.c monitor/graph/graph.h \
	monitor/graph/keepers.c monitor/graph/keepers.h \
	monitor/graph/search.c \
	monitor/graph/ways.c

scan_sources = \
	monitor/scan/areas.c monitor/scan/scanning.h \
	monitor/scan/freeze.c monitor/scan/freeze.h \
	monitor/scan/kept.c \
	monitor/scan/roots.c monitor/scan/roots.h \
	monitor/scan/scan.c monitor/scan/scan.h \
	monitor/scan/variables.c monitor/scan/variables.h

record_sources = \
	monitor/record/heap_events.h \
	monitor/record/asked.c \
	monitor/record/c_free.c \
	monitor/record/c_quick.h \
	monitor/record/c_record.c monitor/record/c_record.h \
	monitor/record/c_size.c monitor/record/c_size.h \
	monitor/record/c_timed.c \
	monitor/record/current.c monitor/record/current.h \
	monitor/record/fork.c \
	monitor/record/keepers.c monitor/record/keepers.h \
	monitor/record/lisp_record.c \
	monitor/record/mark.c \
	monitor/record/find_counter.c monitor/record/find_counter.h \
	monitor/record/recording.c monitor/record/recording.h \
	monitor/record/recording_lock.c monitor/record/recording_lock.h \
	monitor/record/scope.c monitor/record/scope.h \
	monitor/record/session.c monitor/record/session.h \
	monitor/record/status.c \
	monitor/record/messages.c monitor/record/messages.h \
	monitor/record/thread.c monitor/record/thread.h \
	monitor/record/wishes.c monitor/record/wishes.h

api_sources = \
	monitor/api/api.c \
	monitor/api/functions.h \
	monitor/api/public.c \
	monitor/api/scope_print.c \
	monitor/api/stack.c

# One file for each role; configure makes monitor/unwind/arch.h

unwind_sources = \
	monitor/unwind/cfi.h \
	monitor/unwind/eh_frame.c monitor/unwind/eh_frame.h \
	monitor/unwind/generation.c monitor/unwind/generation.h \
	monitor/unwind/known.h \
	monitor/unwind/marks.h \
	monitor/unwind/walk.h

rule_sources = \
	monitor/unwind/cfi.c \
	monitor/unwind/known.c \
	monitor/unwind/look.c \
	monitor/unwind/marks.c \
	monitor/unwind/reach.c monitor/unwind/reach.h \
	monitor/unwind/walk.c

x86_64_sources = $(rule_sources) \
	monitor/unwind/arch_x86_64.h \
	monitor/unwind/barrier.h monitor/unwind/barrier_x86_64.S

aarch64_sources = $(rule_sources) \
	monitor/unwind/arch_aarch64.h \
	monitor/unwind/bare_aarch64.c \
	monitor/unwind/barrier.h monitor/unwind/barrier_aarch64.S

cell_sources = \
	monitor/walk/cell.c \
	monitor/walk/memo.c \
	monitor/walk/remembered.c \
	monitor/walk/revise.c

not_remembered_sources = \
	monitor/walk/remembered_none.c

other_sources = \
	monitor/unwind/arch_other.h \
	monitor/unwind/cfi_other.c \
	monitor/unwind/marks_none.c \
	monitor/unwind/walk_other.c

if MARKS_X86_64
arch_sources = $(x86_64_sources)
endif
if MARKS_AARCH64
arch_sources = $(aarch64_sources)
endif
if WALK_OTHER
arch_sources = $(other_sources)
remembered_sources = $(not_remembered_sources)
backtrace_sources =
else
remembered_sources = $(cell_sources)
backtrace_sources = monitor/malloc/backtrace.c
endif

monitor_sources = $(format_sources) $(base_sources) $(unwind_sources) \
	$(arch_sources) $(file_sources) $(names_sources) $(heap_sources) \
	$(tree_sources) $(walk_sources) $(log_sources) $(graph_sources) $(scan_sources) \
	$(record_sources) $(api_sources)

ecl_sources = \
	monitor/ecl/ecl_adapter.h \
	monitor/ecl/collector.c monitor/ecl/collector.h \
	monitor/ecl/ecl_bytecodes.c \
	monitor/ecl/ecl_count.c monitor/ecl/ecl_count.h \
	monitor/ecl/ecl_signals.c monitor/ecl/ecl_signals.h \
	monitor/ecl/ecl_hook.c \
	monitor/ecl/ecl_images.c monitor/ecl/ecl_images.h \
	monitor/ecl/ecl_keep.c \
	monitor/ecl/ecl_methods.c \
	monitor/ecl/ecl_names.c monitor/ecl/ecl_names.h \
	monitor/ecl/ecl_registry.c \
	monitor/ecl/ecl_thread.c monitor/ecl/ecl_thread.h \
	monitor/ecl/ecl_version.h \
	monitor/ecl/entries.c monitor/ecl/entries.h \
	monitor/ecl/lisp_asked.c monitor/ecl/lisp_asked.h \
	monitor/ecl/lisp_equal.c monitor/ecl/lisp_equal.h \
	monitor/ecl/lisp_heap.c monitor/ecl/lisp_heap.h \
	monitor/ecl/lisp_kept.c monitor/ecl/lisp_kept.h \
	monitor/ecl/lisp_names.c monitor/ecl/lisp_names.h \
	monitor/ecl/lisp_objects.c \
	monitor/ecl/lisp_roots.c monitor/ecl/lisp_roots.h \
	monitor/ecl/lisp_source.c monitor/ecl/lisp_source.h \
	monitor/ecl/lisp_words.c \
	monitor/ecl/local_names.c monitor/ecl/local_names.h \
	monitor/api/reexec.c

# Stands before an ECL without the patch, and starts the monitor by itself

unpatched_sources = \
	monitor/unpatched/behind.c \
	monitor/unpatched/boot.c \
	monitor/unpatched/events.c \
	monitor/unpatched/jump_x86_64.S \
	monitor/unpatched/owners.c \
	monitor/unpatched/requests.c \
	monitor/unpatched/unpatched.h

# In both libraries, as each may see both heaps

hook_sources = \
	monitor/malloc/malloc_hook.c monitor/malloc/malloc_hook.h \
	monitor/malloc/malloc_monitor.h

# Stands before the C library's malloc() and starts the monitor by itself

malloc_sources = \
	monitor/malloc/around.c monitor/malloc/around.h \
	monitor/malloc/autostart.c monitor/malloc/autostart.h \
	monitor/malloc/binding.c \
	monitor/malloc/c_adapter.c \
	monitor/malloc/definitions.c monitor/malloc/definitions.h \
	monitor/malloc/environment.c monitor/malloc/environment.h \
	monitor/malloc/exec.c \
	monitor/malloc/further.c monitor/malloc/further.h \
	monitor/malloc/further_list.h \
	monitor/malloc/malloc.c \
	monitor/malloc/malloc_monitor.c \
	monitor/malloc/signals.c \
	monitor/malloc/unseen.c monitor/malloc/unseen.h

# Code of the monitor may be on a stack while ECL unloads it at its end.
# Each room is a library of its own; tests/run-rooms.test sees to it that it uses
# none above it.
lib_LTLIBRARIES += libmprof_malloc.la
monitor_rooms = libmonitor-format.la libmonitor-base.la libmonitor-unwind.la \
	libmonitor-file.la libmonitor-names.la libmonitor-heap.la \
	libmonitor-tree.la libmonitor-walk.la libmonitor-log.la \
	libmonitor-graph.la libmonitor-scan.la libmonitor-record.la \
	libmonitor-api.la
noinst_LTLIBRARIES += $(monitor_rooms) libmonitor-hook.la libmonitor.la
if ECL
lib_LTLIBRARIES += libmprof.la
noinst_LTLIBRARIES += libmonitor-ecl.la
if MARKS_X86_64
lib_LTLIBRARIES += libmprof_ecl.la
endif
endif
libmonitor_format_la_SOURCES = $(format_sources)
libmonitor_base_la_SOURCES = $(base_sources)
libmonitor_unwind_la_SOURCES = $(unwind_sources) $(arch_sources)
libmonitor_file_la_SOURCES = $(file_sources)
libmonitor_names_la_SOURCES = $(names_sources)
libmonitor_heap_la_SOURCES = $(heap_sources)
libmonitor_tree_la_SOURCES = $(tree_sources)
libmonitor_walk_la_SOURCES = $(walk_sources)
libmonitor_log_la_SOURCES = $(log_sources)
libmonitor_graph_la_SOURCES = $(graph_sources)
libmonitor_scan_la_SOURCES = $(scan_sources)
libmonitor_record_la_SOURCES = $(record_sources)
libmonitor_api_la_SOURCES = $(api_sources)
libmonitor_hook_la_SOURCES = $(hook_sources)
libmonitor_ecl_la_SOURCES = $(ecl_sources)
libmonitor_la_SOURCES =
libmonitor_la_LIBADD = $(monitor_rooms)
libmprof_malloc_la_LIBTOOLFLAGS =
libmprof_malloc_la_SOURCES = $(malloc_sources) $(backtrace_sources)
libmprof_malloc_la_LIBADD = libmonitor-hook.la libmonitor.la -lgcc_s
libmprof_malloc_la_LDFLAGS = $(AM_LDFLAGS) -version-info 4:0:3 $(NO_UNDEFINED) \
	-Wl,-z,nodelete -Wl,-z,initfirst
libmprof_la_SOURCES =
libmprof_la_LIBADD = libmonitor.la libmonitor-hook.la libmonitor-ecl.la $(ECL_LIBS) -lgcc_s
libmprof_la_LDFLAGS = $(AM_LDFLAGS) -version-info 4:0:3 $(NO_UNDEFINED) \
	-Wl,-z,nodelete

libmprof_ecl_la_SOURCES = $(unpatched_sources) monitor/malloc/environment.c
libmprof_ecl_la_LIBADD = libmonitor-format.la
libmprof_ecl_la_LDFLAGS = $(AM_LDFLAGS) -shared -version-info 0:0:0 \
	$(NO_UNDEFINED) -Wl,-z,nodelete

# The archive has no types: mprof would list them as types of the program.
install-exec-hook:
	$(STRIP) --strip-debug '$(DESTDIR)$(libdir)/libmprof_malloc.a'
	$(renew_loader_cache)

