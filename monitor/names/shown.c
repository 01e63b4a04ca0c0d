/* shown.c - see shown.h.
 *
 * The rules are the reader's (report/graph/functions.c): a Lisp function is
 * known by its name in the data file, a C function by its symbol in the
 * library.  Parts that a compiler made of a function belong to it (parts.c).
 */
#include "monitor/names/shown.h"

#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/base/elf_image.h"
#include "monitor/format/naming.h"
#include "monitor/format/paths.h"
#include "monitor/format/plumbing.h"
#include "monitor/format/runtime_names.h"
#include "monitor/names/adapter.h"
#include "monitor/names/parts.h"
#include "monitor/names/names.h"

/* Parts of parts that are followed. */
enum { MOST_NESTED = 3 };

enum { PATH_BYTES = 4096 };

/* Bits of the table's values.  PASSING: a part whose whole was not seen yet;
 * such a value holds for a time only. */
enum { HIDDEN = 1, FRAGMENT = 2, PASSING = 4, REF_SHIFT = 3, TIME_SHIFT = 36 };

/* The names of a function; mapped, as stacks may be small. */
struct texts {
    char lisp[MPROF__NAME_BYTES], symbol[MPROF__NAME_BYTES];
    char path[PATH_BYTES];
};

struct search {
    struct mprof__shows *shows;
    const struct mprof__arena *arena;
    const struct mprof_function *function;
    struct texts *texts;
    struct mprof__shown found;
    bool final; /* it will not change any more */
    unsigned nested;
};

static void read_names(const struct search *s) {
    const struct mprof_function *function = s->function;
    const struct mprof_module *module =
        mprof__arena_at(s->arena, function->module);
    struct texts *names = s->texts;
    mprof__arena_text(s->arena, function->module == 0 ? 0 : module->path,
                      names->path, sizeof names->path);
    mprof__arena_text(s->arena, mprof__load_relaxed(&function->name),
                      names->lisp, sizeof names->lisp);
    mprof__arena_text(s->arena, function->copied ? 0 : function->symbol,
                      names->symbol, sizeof names->symbol);
}

/* The symbol of a C function in a library that has plumbing. */
static void find_symbol(const struct mprof_module *module, uint64_t address,
                        struct texts *names) {
    struct mprof__image image;
    mprof__image_open_symbols(&image, names->path, module->build_id,
                              module->build_id_bytes);
    const char *found = mprof__image_symbol_at(&image, address);
    if (found != NULL)
        strncpy(names->symbol, found, sizeof names->symbol - 1);
    mprof__image_close(&image);
}

/* Return true if the C function is hidden, by its symbol without the ending of
 * a part or copy. */
static bool is_hidden_c(const struct search *s) {
    struct texts *names = s->texts;
    if (names->symbol[0] == '\0' && mprof__has_plumbing(names->path))
        find_symbol(mprof__arena_at(s->arena, s->function->module),
                    s->function->address, names);
    names->symbol[mprof__base_length(names->symbol)] = '\0';
    const char *symbol = names->symbol;
    /* All symbols of other libraries and of the program are known as parts. */
    if (symbol[0] == '\0' && mprof__has_plumbing(names->path))
        symbol = NULL;
    return mprof__is_plumbing(NULL, symbol, names->path) ||
           (s->shows->is_lisp && mprof__is_loading(symbol, names->path));
}

static bool is_hidden_lisp(const struct search *s) {
    const struct texts *names = s->texts;
    return names->lisp[0] != '\0' &&
           mprof__is_plumbing(names->lisp,
                              s->function->kind == MPROF_LISP &&
                                      names->symbol[0] != '\0'
                                  ? names->symbol
                                  : NULL,
                              names->path);
}

/* Return the first function that was seen with KEY, of a text or number, and
 * KIND_; or 0.  If there was none, KEPT becomes the first, unless it is 0. */
static mprof_ref first_with(struct mprof__shows *shows, uint64_t key,
                            char kind_, mprof_ref kept) {
    key = mprof__hash(key ^ (uint64_t)(unsigned char)kind_ << 56) | 2;
    const struct mprof__slot *slot = mprof__table_find(&shows->texts, key);
    if (slot != NULL)
        return (mprof_ref)slot->value;
    if (kept != 0)
        mprof__table_add(&shows->texts, key, kept);
    mprof__table_trim(&shows->texts);
    return kept;
}

/* Return the first function with the module and the first LENGTH bytes of the
 * symbol, which the process has read because the file may be gone.  KIND_
 * distinguishes whole functions from parts of unseen ones. */
static mprof_ref first_of_symbol(const struct search *s, char kind_,
                                 size_t length, mprof_ref kept) {
    uint64_t key = mprof__hash_text(s->texts->symbol, length);
    return first_with(s->shows, key + ((uint64_t)s->function->module << 24),
                      kind_, kept);
}

/* The same for one whose code is at ADDRESS. */
static mprof_ref first_at(const struct search *s, uint64_t address,
                          mprof_ref kept) {
    return first_with(s->shows, address + ((uint64_t)s->function->module << 36),
                      'A', kept);
}

/* It is a part of the function whose symbol has LENGTH bytes of its own. */
static void find_whole_named(struct search *s, size_t length) {
    mprof_ref whole = first_of_symbol(s, 'S', length, 0);
    if (whole == 0)
        whole = first_of_symbol(s, 'P', length, s->found.function);
    s->found.function = whole;
    s->found.fragment = true;
    s->final = false;
}

static struct mprof__shown look_up(struct mprof__shows *shows,
                                   mprof_ref function, unsigned nested);

/* It is a part of the function whose code is at ADDRESS of its module. */
static void find_whole_at(struct search *s, uint64_t address) {
    const struct mprof_module *module =
        mprof__arena_at(s->arena, s->function->module);
    const struct mprof__slot *slot =
        mprof__table_find(&s->shows->names->functions, address + module->bias);
    const struct mprof_function *whole =
        slot == NULL ? NULL : mprof__arena_at(s->arena, (mprof_ref)slot->value);
    s->final = whole != NULL && whole->module == s->function->module &&
               whole->address == address && whole != s->function;
    bool hidden = s->found.hidden;
    if (s->final && s->nested < MOST_NESTED)
        s->found = look_up(s->shows, (mprof_ref)slot->value, s->nested + 1);
    else if (s->final)
        s->found.function = (mprof_ref)slot->value;
    else
        s->found.function = first_at(s, address, s->found.function);
    s->found.hidden |= hidden;
    s->found.fragment = true;
}

static bool runs_ecl(const struct search *s) {
    char runtime[4];
    mprof__arena_text(s->arena, mprof__arena_header(s->arena)->runtime, runtime,
                      sizeof runtime);
    return strcmp(runtime, "ECL") == 0;
}

/* C code of ECL that is a Lisp function to the tables, or that loads a file. */
static bool find_runtime(struct search *s) {
    const char *path = s->texts->path, *file = mprof__base_name(path);
    const char *name = mprof__lisp_function(s->texts->symbol, path);
    char kind = (char)MPROF__SAME_NAME;
    if (name == NULL && !mprof__loads_file(s->texts->symbol))
        return false;
    if (name == NULL) {
        kind = 'K';
        name = mprof__is_passing(file) ? "" : path;
    }
    s->found.function =
        first_with(s->shows, mprof__hash_text(name, strlen(name)), kind,
                   s->found.function);
    s->found.fragment = true;
    return true;
}

static void find_c(struct search *s) {
    size_t base = mprof__base_length(s->texts->symbol);
    bool is_read = s->texts->symbol[0] != '\0';
    struct mprof__part part;
    if (is_read && s->texts->symbol[base] != '\0')
        find_whole_named(s, base);
    else if (is_read) /* for its parts; others of that name are not this one */
        first_of_symbol(s, 'S', base, s->found.function);
    s->found.hidden = is_hidden_c(s);
    if (s->texts->symbol[0] != '\0' && runs_ecl(s) && find_runtime(s))
        return;
    if (is_read || s->function->module == 0 ||
        !mprof__part_at(s->shows->names, s->function->module, s->texts->path,
                        s->function->address, &part))
        return;
    s->found.hidden |= part.hidden;
    if (part.fragment)
        find_whole_at(s, part.whole);
}

/* Return true if REF is one function with others of its name.  A method's name
 * is known only at the end of the recording: until then all methods of a
 * function have one name.  When in doubt, functions are summed up separately.
 */
static bool may_share(const struct search *s, mprof_ref ref) {
    return mprof__table_find(&s->shows->names->certain, ref) != NULL ||
           (s->function->kind == MPROF_INTERPRETED &&
            mprof__is_anonymous(s->texts->lisp));
}

static void find_lisp(struct search *s, mprof_ref ref) {
    s->found.hidden = is_hidden_lisp(s);
    const char *name = s->texts->lisp, *symbol = s->texts->symbol;
    enum mprof__same_as same = mprof__same_by(s->function->kind, name, symbol);
    uint64_t key = mprof__hash_text(name, strlen(name));
    if (same == MPROF__SAME_SYMBOL)
        key = mprof__hash(key) + mprof__hash_text(symbol, strlen(symbol));
    if (same != MPROF__SAME_CODE && may_share(s, ref))
        s->found.function = first_with(s->shows, key, (char)same, ref);
    /* For its parts. */
    if (s->function->kind == MPROF_LISP && s->texts->symbol[0] != '\0')
        first_of_symbol(s, 'S', strlen(s->texts->symbol), s->found.function);
}

static void find_out(struct search *s, mprof_ref ref) {
    uint32_t kind = s->function->kind;
    s->final = true;
    if (kind == MPROF_TOPLEVEL)
        s->found = (struct mprof__shown){MPROF_TOP, true, false};
    if (kind == MPROF_TOPLEVEL || kind == MPROF_UNKNOWN || kind == MPROF_FOLDED)
        return;
    s->texts = mprof__map(sizeof *s->texts);
    s->final = s->texts != NULL;
    if (s->texts == NULL)
        return;
    read_names(s);
    if (kind == MPROF_C || s->texts->lisp[0] == '\0')
        find_c(s);
    else
        find_lisp(s, ref);
    s->found.hidden |= kind == MPROF_ENTRY;
    mprof__unmap(s->texts, sizeof *s->texts);
}

static struct mprof__shown look_up(struct mprof__shows *shows,
                                   mprof_ref function, unsigned nested) {
    struct mprof__table *known = &shows->functions;
    if (function == 0) /* in a file that is being cut */
        return (struct mprof__shown){MPROF_TOP, true, false};
    struct mprof__slot *slot = mprof__table_find(known, function);
    uint64_t now = shows->time & 0xfffffff;
    if (slot != NULL &&
        (!(slot->value & PASSING) || slot->value >> TIME_SHIFT == now))
        return (struct mprof__shown){(mprof_ref)(slot->value >> REF_SHIFT),
                                     (slot->value & HIDDEN) != 0,
                                     (slot->value & FRAGMENT) != 0};
    const struct mprof__arena *arena = shows->names->arena;
    struct search s = {.shows = shows,
                       .arena = arena,
                       .function = mprof__arena_at(arena, function),
                       .found = {.function = function},
                       .nested = nested};
    find_out(&s, function);
    uint64_t value = (s.final ? 0 : now << TIME_SHIFT | PASSING) |
                     (uint64_t)s.found.function << REF_SHIFT |
                     (s.found.hidden ? HIDDEN : 0) |
                     (s.found.fragment ? FRAGMENT : 0);
    /* The table may have grown meanwhile. */
    slot = mprof__table_find(known, function);
    if (slot != NULL)
        slot->value = value;
    else
        mprof__table_add(known, function, value);
    mprof__table_trim(known);
    return s.found;
}

struct mprof__shown mprof__shown(struct mprof__shows *shows,
                                 mprof_ref function) {
    return look_up(shows, function, 0);
}

void mprof__shows_free(struct mprof__shows *shows) {
    mprof__table_free(&shows->functions);
    mprof__table_free(&shows->texts);
}
