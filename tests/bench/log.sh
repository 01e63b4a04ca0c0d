# log.sh - row l: events that are timed, and written to a log; read by run in
# $scratch.
# shellcheck shell=sh disable=SC2034,SC2154 # run and others use and set variables

# logged TOOL: one run of churn, with $options
logged () {
    # shellcheck disable=SC2086 # words
    case $1 in
    alone) set -- alone ./churn ;;
    mprof) set -- mprof "$MPROF" run $options --data="$folder/data" -- ./churn ;;
    esac
    tool=$1
    shift
    limited "$@" stand 5 2000000 1 >output 2>&1 </dev/null
    if read -r processor _ <output; then
        note "$options" "$tool" "$processor"
    else
        complain "churn, $tool $options: $(last_line output)"
    fi
    rm -f "$folder/log"
}

row_l () {
    compile_c churn || return
    # A tmpfs, where there is one
    folder=$(mktemp -d -p /dev/shm 2>/dev/null) || folder=$scratch
    show head "(l) timed, log in ${folder%/*}" alone mprof ''
    for options in --stats "--log=$folder/log --log-plain" "--log=$folder/log"; do
        alternate "$BENCH_ROUNDS" logged alone mprof
    done
    show each '  --stats, ns an event' '' 2 --stats
    show each '  --log --log-plain' 300 2 "--log=$folder/log --log-plain"
    show each '  --log' 300 2 "--log=$folder/log"
    [ "$folder" = "$scratch" ] || rm -rf "$folder"
}
