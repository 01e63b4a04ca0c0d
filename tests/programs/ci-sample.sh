#!/bin/sh
# ci-sample.sh - how continuous integration holds programs against budgets.
#
# Records a C program and a Lisp script, and fails with status 3 if one of them
# allocates more than its budget allows.  Copy it, and put your programs in place
# of these.  When more is allocated for a good reason,
#
#     ci-sample.sh --update=5%
#
# writes the budgets anew, which is part of the change then.
#
# Environment: MPROF, MPROF_ECL, CC: the commands, unless they are in the PATH;
# RESULTS, a folder for reports as JUnit writes them; DATA, one for data files and
# the C program, which has the names of its functions; BEFORE, what DATA was in an
# earlier run, to tell what grew, and to fail with 3 as well when that is much.
: "${MPROF:=mprof}" "${MPROF_ECL:=ecl}" "${CC:=cc}"
here=$(cd "$(dirname "$0")" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
: "${DATA:=$work}"
status=0

# hold NAME OPTION...: the data file NAME.data against NAME.budget
hold () {
    name=$1
    shift
    [ -z "$BEFORE" ] || set -- "$@" "--against=$BEFORE/$name.data"
    [ ! -x "$BEFORE/$name" ] || set -- "$@" "--against=$BEFORE/$name"
    echo "$name:"
    "$MPROF" check "--budget=$here/$name.budget" "$@" "$DATA/$name.data" || status=$?
    [ -z "$RESULTS" ] ||
        "$MPROF" check "--budget=$here/$name.budget" --format=junit \
            "--output=$RESULTS/$name.xml" "$DATA/$name.data"

    # Growth that no budget knows of
    [ -z "$BEFORE" ] ||
        "$MPROF" diff --limit-rows=5 --fail-on-growth=1%,4k "$BEFORE/$name.data" \
            "$DATA/$name.data" || status=$?
}

# Functions that the compiler inlines are their callers, and have no budget.
"$CC" -g -O1 -fno-inline -fno-optimize-sibling-calls "$here/words.c" \
    -o "$DATA/words-c" || exit 1
"$MPROF" run "--output=$DATA/words-c.data" -- "$DATA/words-c" || exit 1
hold words-c "$@"

"$MPROF_ECL" --norc --mprof --mprof-output "$work/tables" \
    --mprof-data "$DATA/words-lisp.data" "$here/words.lsp" </dev/null || exit 1
hold words-lisp "$@"

exit $status
