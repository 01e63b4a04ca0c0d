/* c-limits.c - a program with blocks that may allocate so much and no more;
 * compiled as C and as C++.  The argument is what it does. */
#include <mprof_test.h>

#include <pthread.h>
#include <setjmp.h>

/* What must not be optimised away. */
static void *volatile kept;
static volatile int go, ready;

__attribute__((noinline)) static void *copy_name(size_t size) {
    void *copy = malloc(size);
    kept = copy;
    return copy;
}

__attribute__((noinline)) static void parse(unsigned names) {
    for (unsigned i = 0; i < names; i++)
        free(copy_name(6));
    free(copy_name(100));
}

static void within(void) {
    parse(3); /* allocated before, by the same chain */
    MPROF_ASSERT_NO_ALLOC {
        kept = NULL;
    }
    MPROF_ASSERT_MAX(118, 4) {
        parse(3);
    }
    MPROF_ASSERT_MAX(UINT64_MAX, 4)
    parse(3);
    puts("within");
}

static void too_many(void) {
    parse(5);
    MPROF_ASSERT_NO_ALLOC {
        parse(2);
    }
    puts("not reached");
}

static void too_large(void) {
    MPROF_ASSERT_MAX(111, 3) {
        parse(2);
    }
}

static void *allocate(void *unused) {
    (void)unused;
    ready = 1;
    while (!go)
        free(copy_name(50));
    return NULL;
}

static void nothing_of_others(void) {
    pthread_t other;
    pthread_create(&other, NULL, allocate, NULL);
    while (!ready)
        ;
    MPROF_ASSERT_NO_ALLOC {
        for (volatile int i = 0; i < 1000000; i++)
            ;
    }
    MPROF_ASSERT_MAX(0, 0) {
        parse(0);
    }
    go = 1;
    pthread_join(other, NULL);
}

static int failures, skips;
static jmp_buf out;

static void count_failure(const char *message) {
    printf("failed: %s\n", strrchr(message, '/') + 1);
    failures++;
}

static void jump(const char *message) {
    (void)message;
    longjmp(out, 1);
}

static void count_skip(const char *message) {
    (void)message;
    skips++;
}

static int leave_by_return(void) {
    MPROF_ASSERT_NO_ALLOC {
        parse(1);
        return 1;
    }
    return 0;
}

/* All ways out are judged but jumps; what comes after is counted anew. */
static void ways_out(void) {
    mprof_test_on_failure = count_failure;
    for (int i = 0; i < 2; i++) {
        MPROF_ASSERT_NO_ALLOC {
            parse(1);
            if (i == 0)
                break;
            continue;
        }
    }
    leave_by_return();
    MPROF_ASSERT_NO_ALLOC {
        parse(1);
        goto behind;
    }
behind:
    if (setjmp(out) == 0) {
        MPROF_ASSERT_NO_ALLOC {
            parse(1);
            longjmp(out, 1);
        }
    }
    MPROF_ASSERT_NO_ALLOC {
    }
    printf("%d failures\n", failures);
    /* A handler may jump, too. */
    mprof_test_on_failure = jump;
    if (setjmp(out) == 0) {
        MPROF_ASSERT_NO_ALLOC {
            parse(1);
        }
        puts("not reached");
    }
}

static void one_in_another(void) {
    mprof_test_on_failure = count_failure;
    MPROF_ASSERT_MAX(224, 5) {
        parse(1);
        MPROF_ASSERT_MAX(105, 2) {
            parse(1);
        }
        parse(0);
    }
    printf("%d failures\n", failures);
}

#ifndef NOT_LINKED
/* What is recorded ends within. */
static void stopped(void) {
    mprof_test_on_skip = count_skip;
    MPROF_ASSERT_NO_ALLOC {
        parse(1);
        mprof_restart("other.data");
    }
    MPROF_ASSERT_NO_ALLOC {
        mprof_stop();
    }
    MPROF_ASSERT_NO_ALLOC {
        parse(1);
    }
    printf("%d skips\n", skips);
}
#endif

#ifdef __cplusplus
static void exceptions(void) {
    mprof_test_on_failure = count_failure;
    try {
        MPROF_ASSERT_NO_ALLOC {
            throw 1;
        }
    } catch (int) {
        puts("not judged");
    }
    mprof_test_on_failure = [](const char *) { throw 2; };
    try {
        MPROF_ASSERT_NO_ALLOC {
            parse(1);
        }
    } catch (int n) {
        printf("thrown %d\n", n);
    }
}
#endif

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*function)(void);
    } list[] = {
        {"within", within},         {"too-many", too_many},
        {"too-large", too_large},   {"threads", nothing_of_others},
        {"ways-out", ways_out},     {"nested", one_in_another},
#ifndef NOT_LINKED
        {"stopped", stopped},
#endif
#ifdef __cplusplus
        {"exceptions", exceptions},
#endif
    };
    setvbuf(stdout, NULL, _IONBF, 0);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (argc > 1 && strcmp(argv[1], list[i].name) == 0)
            list[i].function();
    return 0;
}
