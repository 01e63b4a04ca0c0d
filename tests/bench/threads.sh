# threads.sh - rows t and s: threads, and how soon a program starts; read by run in
# $scratch.
# shellcheck shell=sh disable=SC2034,SC2154 # run and others use and set variables

# lisp_threads TOOL: loops.lsp's conses and trees, by one thread and by four
lisp_threads () {
    lisp "$1" threads "$scratch/loops.fas" "$bench/threads.lsp"
    note_lines "$1"
}

# four_to_one LABEL ONE FOUR: rows of one thread and of four, and of the second
# how many times the ratio is that of the first
four_to_one () {
    show row "$1, one thread" '' "$2"
    show row "$1, four threads" '' "$3"
    show ratios "$1, four to one" 1.05 "$2" "$3"
}

row_t () {
    show head '(t) threads; C: ns for a pair, Lisp: ms' alone mprof ''
    compile_c churn || return
    for mode in stand move; do
        one="$mode 50 4000000 1" four="$mode 50 20000000 4"
        for arguments in "$one" "$four"; do
            alternate "$BENCH_ROUNDS" churn alone mprof
        done
        four_to_one "C, $mode" "$one" "$four"
    done
    compile_loops || return
    alternate "$BENCH_ROUNDS" lisp_threads alone mprof
    four_to_one 'Lisp, conses' conses-1 conses-4
    four_to_one 'Lisp, trees' trees-1 trees-4
}

# start TOOL: 20 times true, to its end
start () {
    before=$(date +%s%N)
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        with_tool "$1" start.data true >output 2>&1 </dev/null ||
            complain "true, $1: $(last_line output)"
    done
    after=$(date +%s%N)
    note start "$1" "$(((after - before) / 20000))"
}

row_s () {
    show head '(s) start, us' alone mprof ''
    alternate "$BENCH_ROUNDS" start alone mprof
    show row 'true' '' start
    show each '  what is added, ms' 5 1000 start
}
