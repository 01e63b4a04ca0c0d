# shellcheck shell=sh
# alike.sh - does a program that mprof records do the same as alone?
#
# Who sources this has a function run HOW ARGUMENT..., which leaves the program's
# output in the file HOW and its errors in HOW.err, of which "alone" has run.

# alike A B: the output of two runs.  Lines of mprof's own are not the program's, and
# processes and addresses have numbers.
alike () {
    if cmp -s "$1" "$2" && cmp -s "$1.err" "$2.err"; then
        return
    fi
    for output in "$1" "$2"; do
        { cat "$output"; grep -av '^mprof: ' "$output.err"; } |
            tr -d '\000' | sed 's/[0-9]\{3,\}//g; s/0x[0-9a-f]*//g' >"$output.plain"
    done
    cmp -s "$1.plain" "$2.plain"
}

# differs HOW ARGUMENT...: does that run?  Some programs never do the same twice: then
# it does not, and varies is 1.
# shellcheck disable=SC2034 # varies is for the caller
differs () {
    varies=0
    run "$@"
    ! alike alone "$1" || return 1
    mv alone before && mv alone.err before.err
    recorded=$1
    shift
    run alone "$@"
    if ! alike before alone; then
        varies=1
        return 1
    fi
    run "$recorded" "$@"
    ! alike alone "$recorded"
}
