# common.sh - what the parts of the benchmark share; read by run.
# shellcheck shell=sh disable=SC2034,SC2154 # run sets and uses variables

# Each value that was measured: time, row, tool, value.
times=$scratch/times
: >"$times"
tab=$(printf '\t')

# note ROW TOOL VALUE
note () {
    printf 'time\t%s\t%s\t%s\n' "$1" "$2" "$3" >>"$times"
}

# show KIND FIELD...: one line of the table; table.awk tells what there is
show () {
    printf '%s\t' "$@" | sed "s/$tab\$//" | awk -f "$bench/table.awk" "$times" -
}

# last_line FILE: what a program said at last, mostly why it failed
last_line () {
    grep . "$1" | tail -n 1
}

# limited COMMAND...: a run that hangs ends, too
limited () {
    timeout --foreground -k 5 300 "$@"
}

complain () {
    echo "  failed: $*"
    failed=1
}

# alternate ROUNDS FUNCTION TOOL...: call FUNCTION TOOL for each tool.  The
# order changes, so that no tool always has the warm machine.
alternate () {
    rounds=$1 function=$2 order='' reverse=''
    shift 2
    for tool; do
        order="$order $tool" reverse="$tool $reverse"
    done
    while [ "$rounds" -gt 0 ]; do
        for tool in $order; do
            $function "$tool"
        done
        swap=$order order=$reverse reverse=$swap
        rounds=$((rounds - 1))
    done
}

# compile_c NAME: $scratch/NAME from NAME.c, with all its calls
compile_c () {
    [ -x "$scratch/$1" ] || $CC -O1 -g -fno-builtin -fno-inline \
        -fno-optimize-sibling-calls "$bench/$1.c" -o "$scratch/$1" -pthread \
        >"$scratch/output" 2>&1 ||
        complain "$1.c does not compile: $(last_line "$scratch/output")"
    [ -x "$scratch/$1" ]
}
