# c.sh - rows c and d: programs in C; read by run in $scratch.
# shellcheck shell=sh disable=SC2154 # run and common.sh set variables

# with_tool TOOL DATA COMMAND...: run it alone or recorded, mprof's data in DATA
with_tool () {
    with=$1 data=$2
    shift 2
    case $with in
    alone) limited "$@" ;;
    mprof) limited "$MPROF" run --data="$data" -- "$@" ;;
    heaptrack) limited heaptrack -o heaptrack "$@" ;;
    esac
}

# churn TOOL: one run of churn $arguments.  What counts are its own figures for
# the loop, without start and end: for one thread processor time, which leaves
# out heaptrack's second process, for more the time that passed.
churn () {
    # shellcheck disable=SC2086 # these are words
    with_tool "$1" churn.data ./churn $arguments >output 2>&1 </dev/null
    sed -n 's/^\([0-9.]*\) \([0-9.]*\)$/\1 \2/p' output >lines
    if ! read -r processor wall <lines; then
        complain "churn $arguments, $1: $(last_line output)"
    elif [ "${arguments##* }" = 1 ]; then
        note "$arguments" "$1" "$processor"
    else
        note "$arguments" "$1" "$wall"
    fi
}

# grind TOOL: instructions of a pair of churn $arguments: the difference of two
# runs, in which start and end are the same
grind () {
    for pairs in 2000 22000; do
        # shellcheck disable=SC2086
        with_tool "$1" churn.data valgrind --tool=callgrind \
            --callgrind-out-file=/dev/null ./churn ${arguments% * *} $pairs \
            >output 2>&1 </dev/null || :
        sed -n 's/^==.*Collected : //p' output | tail -n 1
    done >lines
    if [ "$(wc -l <lines)" = 2 ]; then
        { read -r few; read -r many; } <lines
        note "callgrind $arguments" "$1" "$(((many - few) / 21000))"
    else
        complain "callgrind, $1: $(last_line output)"
    fi
}

# process TOOL: the time that $command takes, to its end
process () {
    start=$(date +%s%N)
    # shellcheck disable=SC2086 # these are words
    with_tool "$1" "$program.data" $command <"$input" >output 2>&1 ||
        complain "$program, $1: $(last_line output)"
    end=$(date +%s%N)
    note "$program" "$1" "$(((end - start) / 1000000))"
    [ -s "$program.result" ] || tail -n 1 output >"$program.result"
    grep -qxF -f "$program.result" output ||
        complain "$program, $1: its output is not that of the first run"
}

# Programs that there may be; their input and files.
programs='sqlite3 python3 perl'

# choose PROGRAM: set what process wants; false when it is not installed
choose () {
    program=$1 input=/dev/null
    command -v "$1" >/dev/null || return
    case $1 in
    sqlite3)
        input=inserts.sql command='sqlite3 :memory:'
        cat >inserts.sql <<'END'
create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 800000)
    insert into t select x, 'row ' || (x * 7919 % 2003) from c;
create index i on t(b);
select count(*), sum(a) from t where b like 'row 1%';
END
        ;;
    python3)
        # Its own allocator would hide nearly everything from malloc().  What
        # is found may be a script that starts the real one.
        export PYTHONMALLOC=malloc
        command="$(python3 -c 'import sys; print(sys.executable)') copy_json.py"
        cat >copy_json.py <<'END'
import json
table = {str(i): [i] * 5 for i in range(100000)}
for _ in range(2):
    copy = json.loads(json.dumps(table))
print(copy == table)
END
        ;;
    perl)
        command='perl hashes.pl'
        cat >hashes.pl <<'END'
for my $j (1 .. 40) { my %h; $h{$_} = "x$_" for 1 .. 20000; $n += keys %h; }
print "$n\n";
END
        ;;
    esac
}

row_c () {
    tools='alone mprof'
    show head '(c) C: malloc and free, ns for a pair' alone mprof heaptrack
    if command -v heaptrack >/dev/null; then
        tools="$tools heaptrack"
    else
        echo '  skipped: heaptrack, it is not installed'
    fi
    compile_c churn || return
    for threads in 1 2; do
        case $threads in 1) how='' ;; *) how=", $threads threads" ;; esac
        for depth in 5 50 200 2000; do
            case $depth in 5 | 200) goal=2.50 ;; *) goal='' ;; esac
            arguments="stand $depth $((2000000 / threads)) $threads"
            # shellcheck disable=SC2086 # these are words
            alternate "$BENCH_ROUNDS" churn $tools
            show row "$depth deep$how" "$goal" "$arguments"
        done
    done
    [ -z "$BENCH_INSTRUCTIONS" ] || row_instructions
    row_programs
}

row_instructions () {
    show head '(c) the same, instructions for a pair' alone mprof ''
    if ! command -v valgrind >/dev/null; then
        echo '  skipped: valgrind is not installed'
        return
    fi
    for depth in 5 50 200 2000; do
        arguments="stand $depth 0 1"
        alternate 1 grind alone mprof
        show row "$depth deep" '' "callgrind $arguments"
    done
}

row_programs () {
    show head '(c) programs, ms of real time' alone mprof heaptrack
    for name in $programs; do
        if ! choose "$name"; then
            echo "  skipped: $name, it is not installed"
            continue
        fi
        # shellcheck disable=SC2086 # these are words
        alternate "$BENCH_ROUNDS" process $tools
        case $name in
        sqlite3) goal=1.15 ;;
        python3) goal=1.40 ;;
        perl) goal=1.50 ;;
        esac
        show row "$name" "$goal" "$name"
        show overhead "$name, what it adds to heaptrack's" 0.10 "$name"
    done
}

row_d () {
    show head '(d) depth of the stack, ns for a pair' alone mprof ''
    compile_c churn || return
    for mode in stand move climb; do
        case $mode in stand) goal=2.50 ;; move) goal=2.80 ;; climb) goal=4.00 ;; esac
        for depth in 10 100 1000 10000; do
            arguments="$mode $depth 2000000 1"
            alternate "$BENCH_ROUNDS" churn alone mprof
            show row "$mode, $depth deep" "$goal" "$arguments"
        done
        show growth "$mode, what 10000 deep adds to 10" 1.50 \
            "$mode 10 2000000 1" "$mode 10000 2000000 1"
    done
    for depth in 1000 10000 100000; do
        arguments="rise $depth 2000000 1"
        alternate "$BENCH_ROUNDS" churn alone mprof
        show row "out of $depth calls" '' "$arguments"
    done
    show growth 'what 100000 calls add to 1000' 2.00 \
        'rise 1000 2000000 1' 'rise 100000 2000000 1'
}

# record_c PROGRAM: make PROGRAM.data if it is not there
record_c () {
    [ ! -s "$1.data" ] || return 0
    choose "$1" || return
    process mprof
    [ -s "$1.data" ]
}
