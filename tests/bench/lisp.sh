# lisp.sh - rows idle, a, b and v: programs in Lisp; read by run.
# shellcheck shell=sh disable=SC2154 # run and common.sh set variables

# lisp TOOL WORK LOAD...: one run of measure.lsp over the files LOAD; its lines
# are then in $scratch/lines, the data in $scratch/WORK.data.  The results must
# be those of the first run.
lisp () {
    tool=$1 work=$2
    shift 2
    : >"$scratch/lines"
    if [ "$tool" = plain ]; then
        limited env -u ECLDIR "$MPROF_PLAIN_ECL" --norc --shell \
            "$bench/measure.lsp" "$tool" "$@"
    else
        limited env MPROF_DATA="$scratch/$work.data" "$MPROF_ECL" --norc \
            --shell "$bench/measure.lsp" "$tool" "$@"
    fi >"$scratch/output" 2>&1 </dev/null || {
        complain "$work, $tool: $(last_line "$scratch/output")"
        return
    }
    sed -n 's/^=//p' "$scratch/output" >"$scratch/lines"
    cut -d ' ' -f 1,4 "$scratch/lines" >"$scratch/results"
    [ -s "$scratch/$work.results" ] ||
        cp "$scratch/results" "$scratch/$work.results"
    if [ ! -s "$scratch/lines" ]; then
        complain "$work, $tool: no result"
    elif ! cmp -s "$scratch/results" "$scratch/$work.results"; then
        complain "$work, $tool: not the results of the first run"
    fi
}

# note_lines TOOL [PREFIX]: note the lines of the last run, in ms
note_lines () {
    while read -r name own children _; do
        note "$2$name" "$1" "$(ms "$own")"
        [ "$children" = 0 ] ||
            note "$2$name, all" "$1" "$(ms "$((own + children))")"
    done <"$scratch/lines"
}

# ms MICROSECONDS: in ms, with one more digit
ms () {
    echo "$(($1 / 1000)).$(($1 / 100 % 10))"
}

names='trees conses floats recursion rewriting structures strings interpreted'

compile_loops () {
    for file in loops rewrite; do
        [ -s "$scratch/$file.fas" ] || "$MPROF_ECL" --norc --eval "(progn
            (when (probe-file \"$scratch/loops.fas\")
              (load \"$scratch/loops.fas\"))
            (compile-file \"$bench/$file.lsp\"
                :output-file \"$scratch/$file.fas\")
            (ext:quit))" >"$scratch/output" 2>&1 </dev/null
        [ -s "$scratch/$file.fas" ] || complain \
            "$file.lsp does not compile: $(last_line "$scratch/output")"
    done
    [ -s "$scratch/rewrite.fas" ]
}

loops () {
    lisp "$1" loops "$scratch/loops.fas" "$scratch/rewrite.fas"
}

idle_loops () {
    loops "$1"
    # Its columns are those of the others.
    case $1 in
    plain) note_lines alone 'idle ' ;;
    *) note_lines mprof 'idle ' ;;
    esac
}

noted_loops () {
    loops "$1"
    note_lines "$1"
}

row_idle () {
    show head '(idle) nothing profiled, ms' plain patched ''
    [ -n "$MPROF_PLAIN_ECL" ] ||
        { echo '  skipped: MPROF_PLAIN_ECL names no unpatched ECL'; return; }
    compile_loops || return
    alternate "$BENCH_ROUNDS" idle_loops plain patched
    set --
    for name in $names; do
        show row "$name" '' "idle $name"
        set -- "$@" "idle $name"
    done
    show mean 'geometric mean' 1.01 "$@"
}

row_a () {
    show head '(a) Lisp loops that only allocate, ms' alone mprof ''
    compile_loops || return
    alternate "$BENCH_ROUNDS" noted_loops alone mprof
    for name in $names; do
        case $name in
        trees) goal=1.50 ;;
        recursion) goal=2.00 ;;
        interpreted) goal=1.90 ;;
        *) goal='' ;;
        esac
        show row "$name" "$goal" "$name"
    done
    # shellcheck disable=SC2086 # these are words
    show mean 'geometric mean' 1.40 $names
}

# Beside the profile that does not tell what is alive
live_loops () {
    loops "$1"
    note_live "$1"
}

# note_live TOOL: its columns are those of the others
note_live () {
    case $1 in
    mprof) note_lines alone 'live ' ;;
    *) note_lines mprof 'live ' ;;
    esac
}

live_maxima () {
    lisp "$1" maxima "$bench/maxima.lsp"
    note_live "$1"
}

row_v () {
    show head '(v) what is alive is told, ms' profiled live ''
    compile_loops || return
    alternate "$BENCH_ROUNDS" live_loops mprof live
    set --
    for name in $names; do
        show row "$name" '' "live $name"
        set -- "$@" "live $name"
    done
    show mean 'geometric mean' 1.60 "$@"
    has_maxima || return
    alternate "$BENCH_ROUNDS" live_maxima mprof live
    set -- 'live factor' 'live expand' 'live taylor'
    for name; do
        show row "maxima: ${name#* }" '' "$name"
    done
    show mean 'maxima: geometric mean' 1.30 "$@"
}

# The same, estimated from one byte in so many, beside nothing profiled
sampled_loops () {
    loops "$1"
    note_sampled "$1"
}

sampled_maxima () {
    lisp "$1" maxima "$bench/maxima.lsp"
    note_sampled "$1"
}

# note_sampled TOOL: that beside which both stand is noted twice
note_sampled () {
    case $1 in
    alone)
        note_lines alone '512th '
        note_lines alone '64kth '
        ;;
    *) note_lines mprof "$1 " ;;
    esac
}

row_p () {
    compile_loops || return
    alternate "$BENCH_ROUNDS" sampled_loops alone 512th 64kth
    ! has_maxima ||
        alternate "$BENCH_ROUNDS" sampled_maxima alone 512th 64kth
    for part in 512th 64kth; do
        show head "(p) estimated from a $part of the bytes, ms" alone mprof ''
        set --
        for name in $names; do
            show row "$name" '' "$part $name"
            set -- "$@" "$part $name"
        done
        show mean 'geometric mean' '' "$@"
        has_maxima || continue
        set -- "$part factor" "$part expand" "$part taylor"
        for name; do
            show row "maxima: ${name#* }" '' "$name"
        done
        show mean 'maxima: geometric mean' 1.02 "$@"
    done
}

# Can this ECL load it?  Another program instead would have other figures.
has_maxima () {
    if [ -z "$maxima_loads" ]; then
        MPROF_PPCRE=/nonexistent sh "$bench/../real-program.sh" "$MPROF_ECL" \
            "$scratch/real" >/dev/null 2>&1 && maxima_loads=yes || maxima_loads=no
    fi
    [ "$maxima_loads" = yes ]
}
maxima_loads=

maxima () {
    lisp "$1" maxima "$bench/maxima.lsp"
    note_lines "$1"
}

compiler () {
    lisp "$1" compiler "$bench/compiler.lsp"
    note_lines "$1"
}

# make_source: 51 times module.lsp, 5,000 lines
make_source () {
    export BENCH_SOURCE="$scratch/bank.lsp"
    copy=1
    while [ $copy -le 51 ]; do
        sed "s/-00/-$copy/g" "$bench/module.lsp"
        copy=$((copy + 1))
    done >"$BENCH_SOURCE"
}

row_b () {
    show head '(b) real Lisp programs, ms' alone mprof ''
    if has_maxima; then
        alternate "$BENCH_ROUNDS" maxima alone mprof
        show row 'maxima: factor' '' factor
        show row 'maxima: expand' '' expand
        show row 'maxima: taylor' '' taylor
        show mean 'maxima: geometric mean' 1.25 factor expand taylor
    else
        echo "  skipped: maxima, this ECL cannot load $MPROF_MAXIMA, or it is not there"
    fi
    make_source
    # How much ECL's compiler allocates depends on addresses: a few percent.
    alternate "$BENCH_ROUNDS" compiler alone mprof
    show row 'compile-file, 5,000 lines' 1.10 'compile-file, all'
    show row '  of that, without the C compiler' 1.10 compile-file
}

# record_lisp WORK: make $scratch/WORK.data if it is not there
record_lisp () {
    [ ! -s "$scratch/$1.data" ] || return 0
    case $1 in
    loops) ! compile_loops || loops mprof ;;
    maxima) ! has_maxima || maxima mprof ;;
    compiler) make_source; compiler mprof ;;
    esac
    [ -s "$scratch/$1.data" ]
}
