/* `mprof curve`: a file made up as a table, for gnuplot and drawn; and files
 * that no monitor writes. */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/golden.h"

static const char data_name[] = "curve-test.data";

/* Ten objects of 8 bytes that lived at once, 2 of them now; peak after 8.5 s.
 */
static void make(struct datafile *d, uint32_t points) {
    datafile_start(d);
    mprof_ref function = datafile_function(d, MPROF_C, 0, 16, NULL, "f");
    mprof_ref thread = datafile_c_thread(d, 7, "main");
    mprof_ref root = datafile_node(d, thread, 0, 0);
    datafile_objects(d, datafile_node(d, thread, root, function), 8, 200, 198);
    struct mprof_thread *record = datafile_record(d, thread);
    record->peak = record->high = 80;
    record->high_time = 8500000000;
    record->high_clock = 850;
    if (points > 0)
        datafile_curve(d, points, 100);
    datafile_header(d)->duration = 12345678900;
    datafile_header(d)->start_time = 1234567890000000000;
}

/* What lived at the peak: all ten. */
static void set_peak(struct datafile *d) {
    for (size_t at = MPROF_HEADER_BYTES; at < d->size;) {
        struct mprof_record *head = (struct mprof_record *)(d->data + at);
        struct mprof_block *block = (struct mprof_block *)head;
        struct mprof_c_counter *c = (struct mprof_c_counter *)(block + 1);
        at += head->bytes;
        if (head->type != MPROF_COUNTERS)
            continue;
        c->stamp = 80;
        c->at_peak = mprof_narrow_sum((struct mprof_count){10, 80});
    }
}

static void save(struct datafile *d) {
    set_peak(d);
    datafile_close(d);
    golden_save(d, data_name);
    datafile_free(d);
}

static void prints(const char *format, const char *golden) {
    char *out, *err;
    assert_int_equal(RUN(&out, &err, "curve", format, data_name), 0);
    assert_string_equal(err, "");
    golden_check(out, golden);
    free(out);
    free(err);
}

static void in_all_formats(void **state) {
    struct datafile d;
    (void)state;
    make(&d, 10);
    save(&d);
    setenv("TZ", "UTC", 1);
    prints("--format=table", "curve-table");
    prints("--format=tsv", "curve-tsv");
    prints("--format=plot", "curve-plot");
}

/* Where there was no room for a curve there are two moments. */
static void without_points(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    make(&d, 0);
    save(&d);
    assert_int_equal(RUN(&out, &err, "curve", "--format=tsv", data_name), 0);
    assert_string_equal(out,
                        "# seconds\tcurrent\tallocated\tobjects\tresident\n"
                        "8.500000000\t80\t850\t10\t0\n"
                        "12.345678900\t16\t1600\t2\t0\n");
    free(out);
    free(err);
}

/* A program that was killed while it halved its list leaves points twice. */
static void points_that_are_there_twice(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    make(&d, 10);
    for (size_t at = MPROF_HEADER_BYTES; at < d.size;) {
        struct mprof_record *head = (struct mprof_record *)(d.data + at);
        struct mprof_curve *curve = (struct mprof_curve *)head;
        at += head->bytes;
        for (int i = 1; i < 4 && head->type == MPROF_CURVE; i++)
            curve->points[i] = curve->points[2 * i];
    }
    save(&d);
    assert_int_equal(RUN(&out, &err, "curve", "--format=tsv", data_name), 0);
    assert_non_null(strstr(out, "\n6.000000000\t48\t600\t6\t5000000\n"
                                "7.000000000\t56\t700\t7\t"));
    free(out);
    free(err);
}

/* Lines of the table for gnuplot with OPTION, without the heading. */
static int points(const char *option, const char *second) {
    char *out, *err;
    int lines = -1;
    assert_int_equal(
        RUN(&out, &err, "curve", "--format=tsv", option, second, data_name), 0);
    for (const char *at = out; *at; at++)
        lines += *at == '\n';
    free(out);
    free(err);
    return lines;
}

/* Ten points a second and eight bytes apart, the peak at 8.5 s, and the end */
static void with_resolution(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    make(&d, 10);
    save(&d);
    assert_int_equal(points("--heap=c", "--heap=c"), 12);
    assert_int_equal(points("--time-resolution=1", "--heap=c"), 11);
    assert_int_equal(points("--time-resolution=4", "--heap=c"), 5);
    assert_int_equal(points("--size-resolution=17", "--heap=c"), 5);
    assert_int_equal(points("--resolution=4s,8", "--heap=c"), 12);
    assert_int_equal(points("--size-resolution=1k", "--time-resolution=4"), 5);
    assert_int_equal(RUN(&out, &err, "curve", "--time-resolution=x", data_name),
                     2);
    assert_string_equal(err, "mprof: curve: 'x' is not a number of seconds\n");
    free(out);
    free(err);
    assert_int_equal(
        RUN(&out, &err, "curve", "--size-resolution=-1", data_name), 2);
    assert_string_equal(err, "mprof: curve: '-1' is not a resolution such as "
                             "0.1s, 4k or 0.1s,4k\n");
    free(out);
    free(err);
}

/* Names stand where they belong, whatever is in them. */
static void with_marks(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    make(&d, 3);
    datafile_mark(&d, "begin", 500000000, 4);
    datafile_mark(&d, "wo\trk\n", 1000000000, 9);
    save(&d);
    assert_int_equal(RUN(&out, &err, "curve", "--format=tsv", data_name), 0);
    assert_string_equal(
        out, "# seconds\tcurrent\tallocated\tobjects\tresident\tmark\n"
             "0.000000000\t0\t0\t0\t0\tstart\n"
             "0.500000000\t4\t0\t0\t0\tbegin\n"
             "1.000000000\t8\t100\t1\t1000000\tbegin\n"
             "1.000000000\t9\t0\t0\t1000000\two?rk\\n\n"
             "2.000000000\t16\t200\t2\t1000000\two?rk\\n\n"
             "8.500000000\t80\t850\t10\t1000000\two?rk\\n\n"
             "12.345678900\t16\t1600\t2\t1000000\two?rk\\n\n");
    free(out);
    free(err);
    assert_int_equal(RUN(&out, &err, "curve", "--format=table", data_name), 0);
    assert_non_null(strstr(out, "  begin\n"));
    free(out);
    free(err);
}

/* A Lisp heap with COUNT points, or none. */
static void make_lisp(struct datafile *d, uint32_t count) {
    datafile_start(d);
    datafile_thread(d, 7, "main");
    datafile_header(d)->duration = 12345678900;
    if (count > 0)
        datafile_collections(d, count);
}

static void of_lisp(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    make_lisp(&d, 3);
    save(&d);
    assert_int_equal(RUN(&out, &err, "curve", "--format=tsv", data_name), 0);
    assert_string_equal(
        out, "# seconds\tafter\tallocated\tbefore\tcollections\tcollecting\n"
             "1.000000000\t1000000\t2000000\t2000000\t2\t0.020000000\n"
             "2.000000000\t1001000\t4000000\t2001000\t4\t0.040000000\n"
             "3.000000000\t1002000\t6000000\t2002000\t6\t0.060000000\n");
    free(out);
    free(err);
    assert_int_equal(RUN(&out, &err, "curve", "--format=table", data_name), 0);
    assert_non_null(strstr(
        out, "\n7 collections in 0.070 s; up to 3,000,000 bytes of the heap in "
             "use\n"));
    assert_non_null(strstr(
        out, "    2.000000            4  4,000,000  2,001,000  1,001,000      "
             "0.040000\n"));
    free(out);
    free(err);
    assert_int_equal(RUN(&out, &err, "curve", "--format=plot", data_name), 0);
    assert_non_null(strstr(out, "2,002,000 |"));
    free(out);
    free(err);
    make_lisp(&d, 3);
    datafile_mark(&d, "one", 1500000000, 0);
    datafile_mark(&d, "two", 1600000000, 0);
    save(&d);
    assert_int_equal(RUN(&out, &err, "curve", "--format=tsv", data_name), 0);
    assert_non_null(strstr(out, "\tmark\n1.000000000\t"));
    assert_non_null(strstr(out, "0.020000000\tstart\n"));
    assert_non_null(strstr(out, "0.040000000\ttwo\n"));
    assert_non_null(strstr(out, "0.060000000\ttwo\n"));
    free(out);
    free(err);
    assert_int_equal(RUN(&out, &err, "curve", "--format=table", data_name), 0);
    assert_non_null(strstr(out, "0.040000  two\n"));
    assert_non_null(strstr(out, "0.060000\n"));
    free(out);
    free(err);
    make_lisp(&d, 0);
    save(&d);
    assert_int_equal(RUN(&out, &err, "curve", "--format=plot", data_name), 0);
    assert_non_null(strstr(out, "There was no collection.\n"));
    free(out);
    free(err);
}

static void refuses(struct datafile *d, const char *reason) {
    char *out, *err;
    save(d);
    assert_int_equal(RUN(&out, &err, "curve", data_name), 1);
    assert_string_equal(out, "");
    assert_non_null(strstr(err, reason));
    free(out);
    free(err);
}

static void refuses_what_no_monitor_writes(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    make(&d, 10);
    ((struct mprof_curve *)(d.data + d.size - sizeof(struct mprof_curve)))
        ->count = MPROF_CURVE_POINTS + 1;
    refuses(&d, "there is no room for so many");
    make(&d, 10);
    ((struct mprof_curve *)(d.data + d.size - sizeof(struct mprof_curve)))
        ->rss_count = MPROF_CURVE_RSS + 1;
    refuses(&d, "there is no room for so many");
    make(&d, 10);
    datafile_curve(&d, 1, 1);
    refuses(&d, "a second curve");
    make(&d, 10);
    datafile_mark(&d, "late", 2000000000, 5);
    datafile_mark(&d, "early", 1000000000, 5);
    refuses(&d, "a mark before the last one");
    make_lisp(&d, 3);
    datafile_collections(&d, 1);
    refuses(&d, "a second list of collections");
    make_lisp(&d, 3);
    ((struct mprof_collections *)(d.data + d.size -
                                  sizeof(struct mprof_collections)))
        ->count = MPROF_COLLECTION_POINTS + 1;
    refuses(&d, "there is no room for so many");
    make_lisp(&d, 3);
    save(&d);
    assert_int_equal(RUN(&out, &err, "curve", "--heap=c", data_name), 1);
    assert_non_null(strstr(err, "the C heap was not recorded"));
    free(out);
    free(err);
    assert_int_equal(RUN(&out, &err, "curve", "--format=tree", data_name), 2);
    assert_string_equal(
        err, "mprof: curve: there is no format 'tree'; choose auto, table, "
             "tsv or plot\n");
    free(out);
    free(err);
}

static int clean_up(void **state) {
    (void)state;
    return unlink(data_name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_all_formats),
        cmocka_unit_test(without_points),
        cmocka_unit_test(points_that_are_there_twice),
        cmocka_unit_test(with_resolution),
        cmocka_unit_test(with_marks),
        cmocka_unit_test(of_lisp),
        cmocka_unit_test(refuses_what_no_monitor_writes),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
