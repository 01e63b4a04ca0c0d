# grow.sh - row g: ever new chains; read by run in $scratch.
# shellcheck shell=sh disable=SC2154 # run and common.sh set variables

# suite TOOL: one of Maxima's own tests, the whole process and its tables, with $limit
# if that is not empty
suite () {
    if [ "$1" = mprof ]; then
        set -- mprof "$MPROF_ECL" --norc --mprof --mprof-data suite.data \
            ${limit:+--mprof-limit "$limit"}
    else
        set -- alone "$MPROF_ECL" --norc --shell
    fi
    tool=$1
    shift
    start=$(date +%s%N)
    limited "$@" "$bench/suite.lsp" "$suite" >output 2>&1 </dev/null ||
        complain "$suite, $tool: $(last_line output)"
    end=$(date +%s%N)
    grep -q '^suite done' output || complain "$suite, $tool: it did not end"
    note "suite$limit" "$tool" "$(((end - start) / 1000000))"
}

row_g () {
    show head '(g) ever new chains' alone mprof ''
    compile_c churn || return
    # 2^20 leaves, and as many nodes above them
    for mode in again grow; do
        arguments="$mode 30 1048576 1"
        alternate "$BENCH_ROUNDS" churn alone mprof
    done
    show row 'C, ns for a pair' '' "$arguments"
    show row '  its chain was there before' '' 'again 30 1048576 1'
    show each '  for each of two nodes that are new' 60 2 "$arguments" \
        'again 30 1048576 1'
    suite=$(find "${MPROF_MAXIMA_TESTS:-/usr/share/maxima}" \
        -name rtest_laplace.mac 2>/dev/null | head -n 1)
    if [ -z "$suite" ] || ! has_maxima; then
        echo "  skipped: Maxima's own tests, they are not there"
        return
    fi
    for limit in '' 8m; do
        alternate "$BENCH_ROUNDS" suite alone mprof
        show row "maxima's rtest_laplace, ms${limit:+; limit $limit}" 1.80 "suite$limit"
    done
}
