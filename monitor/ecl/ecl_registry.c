/* ecl_registry.c - the known names of Lisp functions, and Lisp's libraries.
 *
 * The runtime's functions are read when the recording starts: the functions of
 * symbols and of (SETF symbol).  From then on the runtime reports when a
 * function gets a name, and when a library comes or goes.
 *
 * Local functions have none in Lisp; the compiler gives their C functions
 * names like L12make_tree and LC2walk__labels_in__tree_sum, which are read
 * from the symbol table of their library (local_names.c).
 */
#include <pthread.h>
#include <string.h>

#include "monitor/base/self.h"
#include "monitor/ecl/ecl_adapter.h"
#include "monitor/ecl/ecl_images.h"
#include "monitor/ecl/ecl_names.h"
#include "monitor/ecl/local_names.h"
#include "monitor/format/format.h"
#include "monitor/names/names.h"

/* Guards the names and the images. */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

void mprof__ecl_registry_name(cl_object name, cl_object function) {
    mprof__lock(&changing);
    mprof__ecl_names_add(name, function);
    mprof__unlock(&changing);
}

void mprof__ecl_registry_library(cl_object block, bool opened) {
    mprof__lock(&changing);
    if (opened)
        mprof__ecl_images_open(block);
    else
        mprof__ecl_images_close(block);
    mprof__unlock(&changing);
}

void mprof__ecl_registry_fill(void) {
    cl_object l;
    mprof__lock(&changing);
    mprof__ecl_names_fill();
    mprof__ecl_images_open_core();
    mprof__unlock(&changing);
    for (l = cl_core.libraries; ECL_CONSP(l); l = ECL_CONS_CDR(l))
        mprof__ecl_registry_library(ECL_CONS_CAR(l), true);
}

void mprof__ecl_registry_clear(void) {
    mprof__lock(&changing);
    mprof__ecl_images_clear();
    mprof__ecl_names_clear();
    mprof__unlock(&changing);
}

void mprof__ecl_registry_forked(void) {
    pthread_mutex_init(&changing, NULL);
    mprof__ecl_images_forked();
}

void mprof__ecl_native(uintptr_t start, struct link_map *module,
                       struct mprof__name *name) {
    const struct mprof__image *image = mprof__ecl_image(module);
    struct mprof__pair pair = mprof__ecl_pair_of(module, start);
    struct mprof__text text;
    mprof__text_begin(&text, name->text, sizeof name->text);
    if (mprof__ecl_entry_name(pair.entry, &text)) {
        name->kind = MPROF_LISP;
        name->certain = true;
        mprof__ecl_entry_source(pair.entry, &name->source);
    } else if (image != NULL) {
        mprof__local_name(image, pair.body, module->l_addr, name);
        /* A function without a name may be a method. */
        name->certain = name->text[0] == '(' && strstr(name->text, " :IN ");
    }
    if (start != pair.body && name->kind == MPROF_LISP) {
        name->kind = MPROF_ENTRY;
        name->symbol[0] = '\0';
    }
}
