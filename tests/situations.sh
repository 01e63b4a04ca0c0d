# shellcheck shell=dash disable=SC2154,SC2034 # script.sh sets some, who sources this reads some
# situations.sh - what the tests of situations share, sourced after script.sh.  A situation is a function; it runs in a folder of its own.
: "${MPROF:?}" "${MPROF_MALLOC_LIBRARY:?}" "${MALLOC_COUNT:?}" "${CC:=cc}"
: "${CXX:=c++}" "${MPROF_INCLUDE:=$srcdir/monitor/include}"
MPROF_INCLUDE=$(cd "$MPROF_INCLUDE" && pwd) || exit 99
situations_awk=$tests/situations.awk
cd "$scratch" || exit 99
export MPROF_MALLOC_LIBRARY
ulimit -c 0
failed=0

echo 'int main(void) { return 0; }' >try.c
if ! $CC try.c -o try >/dev/null 2>&1; then
    skip_all "$CC does not compile"
fi

# Every function stays one, and every request is made: as far as the compiler
# has to be told so.
flags='-O2 -w -pthread'
for flag in -fno-inline -fno-optimize-sibling-calls -fno-builtin \
    -fno-allocation-dce -fno-ipa-cp -fno-ipa-sra -fno-ipa-icf \
    -fno-partial-inlining; do
    $CC $flag try.c -o try >/dev/null 2>&1 && flags="$flags $flag"
done

# complain WHAT: that is wrong with this situation, in a subshell, too
complain () {
    set -- "${*:-it is wrong, and says nothing}"
    why="${why:+$why; }$*"
    echo "$*" >>"$scratch/complaints"
}

# forgive: what was complained of was to be found
forgive () {
    why=
    : >"$scratch/complaints"
}

# leave_out WHY: skip the situation, whose end this is
leave_out () {
    skip "$name: $*"
    end_here
}

# end_here: the situation goes no further
end_here () {
    [ -n "$why" ] || why=$(cat "$scratch/complaints")
    echo "$why" >"$scratch/why"
    exit
}

# try NAME: the situation NAME, which complains or not
try () {
    name=$1
    started=$(date +%s)
    mkdir -p "$scratch/$name" && cd "$scratch/$name" || exit 99
    echo 'it did not come to its end' >"$scratch/why"
    (
        forgive
        "$name"
        end_here
    )
    why=$(cat "$scratch/why")
    took=$(($(date +%s) - started))
    [ $took -lt 10 ] || name="$name ($took s)"
    if [ -z "$why" ]; then
        echo "ok   $name"
    else
        echo "FAIL $name: $why"
        failed=1
    fi
}

# build OUTPUT SOURCE FLAGS...; the situation ends here when that fails
build () {
    output=$1
    source=$programs/$2
    shift 2
    case $source in
    *.cc) compiler="$CXX -std=c++17" ;;
    *) compiler="$CC -std=gnu11" ;;
    esac
    # shellcheck disable=SC2086
    $compiler $flags "$source" "$@" -o "$output" >errors 2>&1 && return
    complain "$output does not compile: $(head -n 3 errors)"
    end_here
}

# run OUT COMMAND...: its output, errors and status in OUT, OUT.err, OUT.status
run () {
    to=$1
    shift
    { "$@" >"$to" 2>"$to.err" <"${input:-/dev/null}"; } 2>/dev/null
    echo $? >"$to.status"
}

# alike A B: two runs, of which the program can have seen no difference
alike () {
    cmp -s "$1.status" "$2.status" ||
        complain "status $(cat "$2.status"), not $(cat "$1.status")"
    cmp -s "$1" "$2" ||
        complain "another output: $(diff "$1" "$2" | head -n 5)"
    cmp -s "$1.err" "$2.err" ||
        complain "other errors: $(diff "$1.err" "$2.err" | head -n 5)"
}

# profile COMMAND...: without and with mprof; facts of the data file
profile () {
    run plain "$@"
    rm -f data data.*
    run out "$MPROF" run --data=data -- "$@"
    alike plain out
    facts_of data
}

# check COMMAND...: the same, and mprof counts what the plain counter behind it
# counts
check () {
    count "$@"
    totals_agree "$(echo counted.by.*)"
    profile "$@"
}

# count COMMAND...: profile with the counter behind, into counted.by.PID
count () {
    rm -f counted* data data.*
    run counted env LD_PRELOAD="$MALLOC_COUNT" MALLOC_COUNT_SKIP=mprof \
        MALLOC_COUNT_OUT="$PWD/counted.by" "$MPROF" run --data=data -- "$@"
    facts_of data
}

# totals_agree COUNTS: the facts' totals are those in the file COUNTS
totals_agree () {
    if [ ! -f "$1" ]; then
        complain "the counter wrote no $1"
        return
    fi
    read -r allocs bytes frees freed unknown refused peak <"$1"
    asked=$(without_zeros "$allocs" "$bytes" "$frees" "$freed")
    [ "$(fact total)" = "$asked" ] ||
        complain "$1: asked for $asked, mprof counts $(fact total)"
    [ "$(fact unknown)" = "$(without_zeros "$unknown")" ] ||
        complain "$1: unknown frees $unknown, mprof counts $(fact unknown)"
    [ "$(fact failed)" = "$(without_zeros "$refused")" ] ||
        complain "$1: $refused failed, mprof counts $(fact failed)"
    # Of several threads there is more than one order.
    # shellcheck disable=SC2086 # two numbers
    [ "$(fact threads)" != 1 ] || [ "$(fact peak)" = "$(without_zeros $peak)" ] ||
        complain "$1: a peak of $peak (bytes, objects), mprof has $(fact peak)"
}

without_zeros () {
    echo "$@" | sed 's/\<0*\([0-9]\)/\1/g'
}

# facts_of DATA: the s-expression as lines, in the file `facts`:
#     total, bins, failed, unknown, ...  numbers
#     self                               function  allocs bytes frees freed
#     through                            function  allocs bytes
#     arc                                caller  callee  allocs bytes
# with a tab where here are two blanks.  Functions of one name are one.
facts_of () {
    : >facts
    if ! "$MPROF" --sexp "$1" >sexp 2>sexp.err; then
        complain "$1 cannot be read: $(cat sexp.err)"
        return
    fi
    awk -f "$situations_awk" sexp >facts
    [ "$(fact bins)" = "$(fact total)" ] ||
        complain "$1: bins of $(fact bins), functions of $(fact total)"
}

# fact KIND [NAME...]: the numbers of it
fact () {
    awk -F '\t' -v key="$(printf '%s\t' "$@")" '
        index($0, key) == 1 { print substr($0, length(key) + 1) }' facts
}

# is KIND [NAME...] NUMBERS: it is there with these numbers
is () {
    for numbers; do :; done
    key=
    while [ $# -gt 1 ]; do
        key="$key$1	"
        shift
    done
    grep -qxF -- "$key$numbers" facts && return
    complain "not \"$key$numbers\" but \"$(awk -v key="$key" '
        index($0, key) == 1 { print substr($0, length(key) + 1) }' facts)\""
}

# self FUNCTION ALLOCS BYTES FREES FREED: what it allocates itself, and what
# becomes of that
self () {
    is self "$1" "$2 $3 $4 $5"
}

# total FUNCTION ALLOCS BYTES: what is allocated while it runs
total () {
    is through "$1" "$2 $3"
}

# arc CALLER CALLEE ALLOCS BYTES: what is allocated through this call
arc () {
    is arc "$1" "$2" "$3 $4"
}

# called CALLER CALLEE ALLOCS: as arc, with any number of bytes
called () {
    case $(fact arc "$1" "$2") in
    "$3 "*) ;;
    *) complain "$1 calls $2 for $(fact arc "$1" "$2"), not $3" ;;
    esac
}

# nameless MODULE ALLOCS BYTES FREES FREED: in the places that have no names
nameless () {
    sum=$(awk -F '\t' -v module="$1+0x" '
        $1 == "self" && index($2, module) == 1 {
            split($3, of, " ")
            for (i = 1; i <= 4; i++) n[i] += of[i] }
        END { print n[1] + 0, n[2] + 0, n[3] + 0, n[4] + 0 }' facts)
    [ "$sum" = "$2 $3 $4 $5" ] ||
        complain "$1+0x...: $sum, not $2 $3 $4 $5"
}

# absent FUNCTIONS...: nothing was allocated through them
absent () {
    for function; do
        [ -z "$(fact through "$function")" ] ||
            complain "$function is there: $(fact through "$function")"
    done
}

# works: as alike, but the monitor may have said in a line what is missing
works () {
    cmp -s plain out && cmp -s plain.status out.status ||
        complain "output $(cat out) status $(cat out.status)"
    [ "$(wc -l <out.err)" -le 1 ] && [ "$(grep -cv '^mprof: ' out.err)" = 0 ] ||
        complain "errors: $(cat out.err)"
}

# readable DATA: if it is there, it can be read
readable () {
    [ ! -s "$1" ] || "$MPROF" "$1" >tables 2>&1 ||
        complain "no tables: $(cat tables)"
}
