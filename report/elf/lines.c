/* lines.c - see lines.h.  For the header of a line table, in DWARF 2 to 5, see
 * section 6.2.4 of the standard.
 */
#include "report/elf/lines.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of names for each byte of a file, and in any case. */
enum { NAME_BYTES_FOR_BYTE = 16, NAME_BYTES = 1 << 24 };

/* A table is read twice at most: another one may overlap it. */
enum { READS_OF_A_TABLE = 2 };

/* The rest of some bytes; empty after a read beyond their end. */
struct bytes {
    const unsigned char *at, *end;
    bool is_short;
};

struct sections {
    struct bytes line, line_str, str;
};

/* Bytes that go into the names of files. */
struct names {
    uint64_t files;           /* number of all of them */
    uint64_t longest, folder; /* folder, the unit's own folder */
    uint64_t *folders;
    size_t folder_count;
};

/* Reading */

static bool has(struct bytes *b, uint64_t count) {
    if (!b->is_short && (uint64_t)(b->end - b->at) >= count)
        return true;
    b->is_short = true;
    return false;
}

static uint64_t number(struct bytes *b, unsigned size) {
    uint64_t value = 0;

    if (!has(b, size))
        return 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)b->at[i] << 8 * i;
    b->at += size;
    return value;
}

static uint64_t leb128(struct bytes *b) {
    uint64_t value = 0;

    for (unsigned shift = 0; has(b, 1); shift += 7) {
        unsigned char byte = *b->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    return 0;
}

static void skip(struct bytes *b, uint64_t count) {
    if (count > 0 && has(b, count))
        b->at += count;
}

/* The length of the text there, which it goes behind. */
static uint64_t text(struct bytes *b) {
    const unsigned char *end =
        has(b, 1) ? memchr(b->at, 0, (size_t)(b->end - b->at)) : NULL;
    uint64_t length;

    if (!end) {
        b->is_short = true;
        return 0;
    }
    length = (uint64_t)(end - b->at);
    b->at = end + 1;
    return length;
}

static uint64_t text_at(struct bytes section, uint64_t offset) {
    skip(&section, offset);
    return text(&section);
}

/* Return true if NAME is ".debug" and KIND, also for an old compressed section
 * or a file of split units. */
static bool is_section(const char *name, const char *kind) {
    size_t length = strlen(kind);

    name += *name == '.';
    name += *name == 'z';
    return strncmp(name, "debug", 5) == 0 &&
           strncmp(name + 5, kind, length) == 0 &&
           (name[5 + length] == '\0' || strcmp(name + 5 + length, ".dwo") == 0);
}

static bool find_sections(Elf *elf, struct sections *found) {
    GElf_Ehdr header;
    GElf_Shdr section;
    size_t names;

    memset(found, 0, sizeof *found);
    if (!gelf_getehdr(elf, &header) || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        const char *name = gelf_getshdr(s, &section)
                               ? elf_strptr(elf, names, section.sh_name)
                               : NULL;
        struct bytes *b = NULL;
        if (!name || section.sh_type == SHT_NOBITS ||
            section.sh_flags & SHF_COMPRESSED) /* libdw undoes that */
            continue;
        if (is_section(name, "_line"))
            b = &found->line;
        else if (is_section(name, "_line_str"))
            b = &found->line_str;
        else if (is_section(name, "_str"))
            b = &found->str;
        Elf_Data *data = b ? elf_rawdata(s, NULL) : NULL;
        if (data && data->d_buf)
            *b = (struct bytes){.at = data->d_buf,
                                .end = (unsigned char *)data->d_buf +
                                       data->d_size};
    }
    return found->line.at != NULL;
}

/* Names of files */

static void add_folder(struct names *n, uint64_t length) {
    n->folders[n->folder_count++] = length;
    if (length > n->longest)
        n->longest = length;
}

static void add_file(struct names *n, uint64_t length, uint64_t folder) {
    n->files += length + n->folder + 3;
    n->files += folder < n->folder_count ? n->folders[folder] : n->longest;
}

/* Room for as many folders as LEFT may hold, each of a byte at least. */
static bool make_room(struct names *n, const struct bytes *left) {
    n->folders = calloc((size_t)(left->end - left->at) + 1, sizeof *n->folders);
    return n->folders != NULL;
}

static void measure_old(struct names *n, struct bytes *b) {
    uint64_t length;

    if (!make_room(n, b))
        b->is_short = true;
    add_folder(n, 0); /* the unit's own */
    while ((length = text(b)) > 0)
        add_folder(n, length);
    while ((length = text(b)) > 0) {
        add_file(n, length, leb128(b));
        leb128(b); /* time */
        leb128(b); /* size */
    }
}

/* Read a form of an entry; *LENGTH is a text's. */
static uint64_t read_form(const struct sections *s, struct bytes *b,
                          uint64_t form, unsigned offset_size,
                          uint64_t *length) {
    switch (form) {
    case DW_FORM_string:
        *length = text(b);
        return 0;
    case DW_FORM_line_strp:
        *length = text_at(s->line_str, number(b, offset_size));
        return 0;
    case DW_FORM_strp:
        *length = text_at(s->str, number(b, offset_size));
        return 0;
    case DW_FORM_data1:
        return number(b, 1);
    case DW_FORM_data2:
        return number(b, 2);
    case DW_FORM_data4:
        return number(b, 4);
    case DW_FORM_data8:
        return number(b, 8);
    case DW_FORM_udata:
        return leb128(b);
    case DW_FORM_data16:
        skip(b, 16);
        return 0;
    case DW_FORM_block:
        skip(b, leb128(b));
        return 0;
    default: /* no compiler writes it there */
        b->is_short = true;
        return 0;
    }
}

/* A list of entries of DWARF 5: folders, or files. */
static void measure_entries(struct names *n, const struct sections *s,
                            struct bytes *b, unsigned offset_size,
                            bool are_files) {
    struct bytes formats, left;
    uint64_t format_count = number(b, 1);

    formats = *b;
    for (uint64_t i = 0; i < 2 * format_count; i++)
        leb128(b);
    uint64_t count = leb128(b);
    if (!has(b, count) || (count > 0 && format_count == 0))
        b->is_short = true;
    for (uint64_t i = 0; i < count && !b->is_short; i++) {
        uint64_t length = 0, folder = 0;
        left = formats;
        for (uint64_t k = 0; k < format_count; k++) {
            uint64_t content = leb128(&left), form = leb128(&left), of_this = 0;
            uint64_t value = read_form(s, b, form, offset_size, &of_this);
            if (content == DW_LNCT_path)
                length = of_this;
            else if (content == DW_LNCT_directory_index)
                folder = value;
        }
        if (are_files)
            add_file(n, length, folder);
        else
            add_folder(n, length);
    }
}

/* Measure files that the rows themselves name, or seem to name. */
static void measure_rows(struct names *n, struct bytes rows) {
    while (rows.at < rows.end) {
        if (*rows.at++ != 0)
            continue;
        struct bytes extended = rows;
        uint64_t length = leb128(&extended);
        if (number(&extended, 1) == DW_LNE_define_file && !extended.is_short)
            add_file(n, length, UINT64_MAX);
    }
}

/* Return the bytes that names of the table at OFFSET take; *BYTES is its size.
 * UINT64_MAX: it is damaged. */
static uint64_t measure(const struct sections *s, uint64_t offset,
                        uint64_t folder, uint64_t *bytes) {
    struct names names = {.folder = folder};
    struct bytes b = s->line;
    unsigned offset_size = 4;

    skip(&b, offset);
    uint64_t length = number(&b, 4);
    if (length == 0xffffffff) {
        offset_size = 8;
        length = number(&b, 8);
    }
    if (has(&b, length))
        b.end = b.at + length;
    *bytes = length;
    uint64_t version = number(&b, 2);
    if (version >= 5)
        skip(&b, 2); /* of addresses and selectors */
    uint64_t header = number(&b, offset_size);
    struct bytes rows = b;
    skip(&rows, header);
    skip(&b, version >= 4 ? 5 : 4);
    uint64_t opcodes = number(&b, 1);
    skip(&b, opcodes > 0 ? opcodes - 1 : 0);
    if (b.is_short || rows.is_short || version < 2 || version > 5)
        return UINT64_MAX;
    if (version < 5)
        measure_old(&names, &b);
    else if (make_room(&names, &b)) {
        measure_entries(&names, s, &b, offset_size, false);
        measure_entries(&names, s, &b, offset_size, true);
    } else
        b.is_short = true;
    measure_rows(&names, rows);
    free(names.folders);
    return b.is_short ? UINT64_MAX : names.files;
}

bool report__lines_fit(struct report__line_budget *budget, Dwarf_Die *cu) {
    Dwarf *dwarf = dwarf_cu_getdwarf(cu->cu);
    Elf *elf = dwarf ? dwarf_getelf(dwarf) : NULL;
    Dwarf_Attribute attribute;
    Dwarf_Word offset = 0; /* as it is for split units, which have none */
    struct sections s;
    uint64_t bytes, names;
    size_t size = 0;

    if (!elf || !find_sections(elf, &s) ||
        (dwarf_attr(cu, DW_AT_stmt_list, &attribute) &&
         dwarf_formudata(&attribute, &offset) != 0))
        return false;
    if (!budget->is_set) {
        elf_rawfile(elf, &size);
        budget->is_set = true;
        budget->bytes = READS_OF_A_TABLE * (uint64_t)(s.line.end - s.line.at);
        budget->names = NAME_BYTES + NAME_BYTES_FOR_BYTE * (uint64_t)size;
    }
    const char *folder =
        dwarf_formstring(dwarf_attr(cu, DW_AT_comp_dir, &attribute));
    names = measure(&s, offset, folder ? strlen(folder) : 0, &bytes);
    if (names > budget->names || bytes > budget->bytes)
        return false;
    budget->names -= names;
    budget->bytes -= bytes;
    return true;
}

/* Places */

struct report__place report__line_of(Dwarf_Die *cu, Dwarf_Addr address) {
    struct report__place place = {NULL, 0};
    Dwarf_Line *row = dwarf_getsrc_die(cu, address);
    int line;

    if (row && dwarf_lineno(row, &line) == 0 && line > 0) {
        place.file = dwarf_linesrc(row, NULL, NULL);
        place.line = (uint32_t)line;
    }
    return place;
}

static bool attribute_number(Dwarf_Die *die, unsigned name, Dwarf_Word *value) {
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) &&
           dwarf_formudata(&attribute, value) == 0;
}

struct report__place report__call_line(Dwarf_Die *cu, Dwarf_Die *inlined) {
    struct report__place place = {NULL, 0};
    Dwarf_Word file, line;
    Dwarf_Files *files;
    size_t count;

    if (attribute_number(inlined, DW_AT_call_file, &file) &&
        attribute_number(inlined, DW_AT_call_line, &line) && line > 0 &&
        line <= INT32_MAX && dwarf_getsrcfiles(cu, &files, &count) == 0 &&
        file < count) {
        place.file = dwarf_filesrc(files, file, NULL, NULL);
        place.line = (uint32_t)line;
    }
    return place;
}
