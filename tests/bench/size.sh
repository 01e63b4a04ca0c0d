# size.sh - rows e and f: memory, and the reader; read by run in $scratch.
# shellcheck shell=sh disable=SC2154 # run and common.sh set variables

# What the paper's Table 2 tells: program, allocations, KB allocated, KB of the
# monitor, KB of the data file.
table_2 () {
    cat <<'END'
1988: example 100000 20000 790 4.5
1988: fidilrt 61163 2425 500 8.1
1988: epoxy 306295 6418 2445 28.6
1988: crystal 31158 21464 186 9.6
END
}

# measured NAME: the same of NAME.data, by the first lines of the tables
measured () {
    "$MPROF" --table=bins --terse "$1.data" 2>&1 | head -n 3 | tr -d , |
        awk -v name="$1" -v bytes="$(wc -c <"$1.data")" '
            function kb(number, unit) {
                return number * (unit ~ /^B/ ? 1 / 1024 : unit ~ /^K/ ? 1 : \
                    unit ~ /^M/ ? 1024 : 1048576)
            }
            $2 ~ /^allocation/ && !sum { count = $1; sum = $3 / 1024 }
            sub(/.*monitor memory /, "") { memory = kb($1, $2) }
            END {
                if (sum)
                    printf "%s %d %.1f %.1f %.1f\n", name, count, sum,
                        memory + bytes / 1024, bytes / 1024
            }'
}

# record NAME: see that NAME.data is there, from the other rows or from now
record () {
    case $1 in
    loops | maxima | compiler) record_lisp "$1" ;;
    *) record_c "$1" ;;
    esac
}

row_e () {
    printf '\n%-20s %11s %10s %8s %8s %6s %8s  %s\n' \
        '(e) memory, KB' allocations allocated monitor file '%' 'over 4M' goal
    : >sizes
    for recorded in loops maxima compiler $programs; do
        if record "$recorded"; then
            measured "$recorded" >>sizes
        else
            echo "  skipped: $recorded"
        fi
    done
    { sed 's/^/mprof: /' sizes; table_2; } | awk '
        {
            share = 100 * $5 / ($4 + $5)
            printf "  %-18s %11d %10d %8.1f %8.1f %5.1f%%", $1 " " $2, $3, $4,
                $5, $6, share
            if ($1 == "mprof:") {
                over = $5 > 4096 ? 100 * ($5 - 4096) / $4 : 0
                printf " %7.2f%%    2%%  %s", over, over <= 2 ? "reached" : \
                    sprintf("not reached: %.2f of 2.00", over)
            }
            print ""
        }'
}

# tables DATA: note how many seconds mprof takes for all of them
tables () {
    start=$(date +%s%N)
    "$MPROF" --verbose "$1" >tables.output 2>&1 ||
        complain "mprof $1: $(last_line tables.output)"
    end=$(date +%s%N)
    note "tables $1" mprof "$(awk "BEGIN { print ($end - $start) / 1e9 }")"
}

read_data () {
    tables "$data_file"
}

row_f () {
    show head '(f) all tables by mprof --verbose, s' '' mprof ''
    # shellcheck disable=SC2012 # they have simple names
    largest=$(ls -S ./*.data 2>/dev/null | head -n 1)
    if [ -z "$largest" ] && record compiler; then
        largest=./compiler.data
    fi
    compile_c chains &&
        for shape in levels cycle; do
            with_tool mprof "$shape.chains" ./chains $shape >output 2>&1 ||
                complain "chains $shape: $(last_line output)"
        done
    for data_file in $largest levels.chains cycle.chains; do
        [ -s "$data_file" ] || continue
        alternate "$BENCH_ROUNDS" read_data mprof
    done
    show value "largest of the runs: ${largest#./}" 1.00 "tables $largest"
    show value '111,110 nodes, no recursion' 1.00 'tables levels.chains'
    show value '111,110 nodes, of one cycle' 1.00 'tables cycle.chains'
}
