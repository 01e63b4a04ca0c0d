# shellcheck shell=dash # Debian's sh, which has "local"
# shellcheck disable=SC2154 # bootstrap has: log, test_count
# steps.sh - steps of bootstrap: each runs in the background while its progress is shown.

started=$(date +%s)
step_pid='' plain_pid=''
width=$({ stty size </dev/tty | cut -d ' ' -f 2; } 2>/dev/null)
[ "${width:-0}" -ge 40 ] 2>/dev/null || width=80

elapsed() {
    local seconds
    seconds=$(($(date +%s) - ${1:-$started}))
    printf '%d:%02d' $((seconds / 60)) $((seconds % 60))
}

say() {
    printf '[%s] %s\n' "$(elapsed)" "$*"
}

# The step is the leader of a process group, so that all of it can be ended.
stop_step() {
    local pid
    trap '' INT TERM HUP
    for pid in $step_pid $plain_pid; do
        kill -s TERM -- "-$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    [ ! -t 1 ] || echo
    echo "bootstrap: interrupted; call it again to go on" >&2
    exit "$1"
}

# What the step is at: the tests that run, the file that its log names last, or the
# last line.
activity() {
    local file running
    running=$(cd tests/running 2>/dev/null && echo *)
    case $test_count$running in
    '' | *'*' | "$test_count") ;;
    *)
        echo "$({ wc -l <tests/times || echo 0; } 2>/dev/null) of $test_count: $running"
        return
        ;;
    esac
    file=$(tail -n 5 "$log" | grep -oE '[A-Za-z0-9_-]+\.(d|c|lsp|lisp|fas)([^A-Za-z0-9_.]|$)' |
        tail -n 1 | tr -cd 'A-Za-z0-9_.-')
    echo "${file:-$(tail -n 1 "$log" | tr -cd '[:print:]' | cut -c 1-100)}"
}

# On a terminal one line that changes, elsewhere a line every half minute.
show_progress() {
    local ticks=0
    while kill -0 "$step_pid" 2>/dev/null; do
        if [ $ticks -lt 5 ]; then
            sleep 0.2
        else
            sleep 1
        fi
        ticks=$((ticks + 1))
        if [ -t 1 ]; then
            printf '\r\033[K%.*s' $((width - 1)) "[$(elapsed)] $1: $(activity)"
        elif [ $((ticks % 30)) -eq 0 ]; then
            say "$1: still at it ($(activity))"
        fi
    done
    [ ! -t 1 ] || printf '\r\033[K'
}

# step WHAT COMMAND...: run COMMAND; its output goes to the log.
step() {
    local what=$1 status began
    shift
    began=$(date +%s)
    [ -t 1 ] || say "$what"
    printf '\n== %s: %s\n' "$what" "$*" >>"$log"
    setsid "$@" >>"$log" 2>&1 </dev/null &
    step_pid=$!
    show_progress "$what"
    wait "$step_pid"
    status=$?
    step_pid=
    [ $status -ne 0 ] || say "$what: done in $(elapsed "$began")"
    return $status
}

# Why the last step failed: its own last sentence where that says all.
fail() {
    local reason
    reason=$(grep -E '^(build-ecl|get-source): ' "$log" | tail -n 1)
    if [ -n "$reason" ] && [ "$reason" = "$(tail -n 1 "$log")" ]; then
        case $reason in
        *'is above'*) ;;
        *) die "${reason#*: } (log: $log)" ;;
        esac
    fi
    tail -n 20 "$log" >&2
    die "$1; above are the last lines of the log $log"
}
