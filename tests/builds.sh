# shellcheck shell=sh
# builds.sh - what tests source that build mprof in another way.
: "${srcdir:?}" "${scratch:?}"

# copy_sources FOLDER: what configure and make need, to build it there in another
# way: the source folder may be configured itself.  FOLDER may hold an older copy.
copy_sources () {
    mkdir -p "$1" &&
        (
            cd "$srcdir" || exit
            {
                find configure configure.ac aclocal.m4 Makefile.am ./*/local.mk Makefile.in \
                    config.h.in mprof.pc.in mprof-malloc.pc.in build-aux man/*.in man/page.awk \
                    lisp/version.sexp README NEWS doc
                find monitor report tests -name '*.[chS]' ! -name arch.h
                find report/html -name '*.html' -o -name '*.css' -o -name '*.js' -o -name '*.awk'
                find tests -name '*.cc' -o -name '*.golden' -o -name make-corpus -o -name timed
            } | tar -c -T -
        ) | tar -x -p -C "$1"
}

# configure_copy FOLDER OPTION...: a copy of the sources, configured once, for C
# programs only; the test goes on there
configure_copy () {
    copy_sources "$1" && cd "$1" || exit 99
    shift
    # What make was told is not meant for the makes in here.
    unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
    [ ! -f Makefile ] || return 0
    # libtool takes half the time in this shell.
    env -u CPPFLAGS -u CFLAGS -u LDFLAGS -u LIBS CONFIG_SHELL=/bin/sh \
        ./configure --without-ecl --enable-werror "CC=${CC:-cc}" "CXX=${CXX:-c++}" "$@" >"$scratch/log" 2>&1 && return
    not_built 'it is not configured'
}

# not_built WHY: the end of this test
not_built () {
    echo "FAIL $1:"
    tail -n 40 "$scratch/log" | sed 's/^/    /'
    exit 1
}

# c_tests NAME...: they, and nothing else, are made there, and all are run, whether one
# fails or not
c_tests () {
    make -k -j"$(getconf _NPROCESSORS_ONLN)" check-TESTS TESTS="$*" >"$scratch/log" 2>&1
    status=$?
    for test in "$@"; do
        case $(sed -n 's/^:test-result: *//p' "$test.trs" 2>/dev/null) in
        PASS*) echo "ok   $test" ;;
        SKIP*) skip "$test: $(sed -n 's/^skip *//p' "$test.log" | tr '\n' ';')" ;;
        *)
            # shellcheck disable=SC2034 # for who sources this
            failed=1
            echo "FAIL $test:"
            grep -E 'ERROR|LINE|FAILED|SUMMARY' "$test.log" 2>/dev/null | head -n 12 |
                sed 's/^/    /'
            tail -n 40 "$test.log" 2>/dev/null | sed 's/^/    /'
            ;;
        esac
    done
    [ "$status" = 0 ] || [ "${failed-0}" = 1 ] || not_built "make ended with status $status"
}
