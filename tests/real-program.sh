#!/bin/sh
# shellcheck shell=dash # Debian's sh, which has "ulimit -c"
# real-program.sh - a real Lisp program that this ECL can run.
#
# Usage: real-program.sh ECL FOLDER
#
# Prints the program's name and the compiled file to load:
#
#     maxima FILE     Debian's Maxima, where this ECL can load it: the file is of
#                     the version of ECL that Debian had when it was compiled
#     library FILE    else Debian's cl-ppcre, which ECL compiles into FOLDER
#
# programs/NAME.lsp is the program, and oracle/work-NAME.lsp the same for the
# tests.  Which it is and why stands on the standard error, in one line; it
# exits with 1 if it is neither.
#
# Environment: MPROF_MAXIMA, maxima.fas; MPROF_PPCRE, the folder of the sources
# of cl-ppcre (default of both: where Debian has them).
[ $# = 2 ] || { echo 'real-program.sh: usage: real-program.sh ECL FOLDER' >&2; exit 2; }
ecl=$1
: "${MPROF_MAXIMA:=/usr/lib/ecl/maxima.fas}"
: "${MPROF_PPCRE:=/usr/share/common-lisp/source/cl-ppcre}"
programs=$(cd "$(dirname "$0")/programs" && pwd) || exit 1
mkdir -p "$2" && folder=$(cd "$2" && pwd) || exit 1
log=$folder/real-program.log

# A file of another version fails in any way, crashes included, of which the
# subshell tells the log.
can_run_maxima () {
    (
        ulimit -c 0
        timeout -k 5 120 "$ecl" --norc --shell "$programs/maxima.lsp" "$MPROF_MAXIMA" 1
        exit $?
    ) >"$log" 2>&1 </dev/null && grep -q '^200! = ' "$log"
}

compile_library () {
    rm -f "$folder/cl-ppcre.fas"
    timeout -k 5 600 "$ecl" --norc --shell "$programs/compile-library.lsp" \
        cl-ppcre "$MPROF_PPCRE" "$folder" >"$log" 2>&1 </dev/null &&
        [ -s "$folder/cl-ppcre.fas" ]
}

if [ ! -r "$MPROF_MAXIMA" ]; then
    why="there is no $MPROF_MAXIMA"
elif can_run_maxima; then
    echo 'real program: Maxima' >&2
    echo "maxima $MPROF_MAXIMA"
    exit 0
else
    why="this ECL cannot load $MPROF_MAXIMA"
fi
if [ ! -d "$MPROF_PPCRE" ]; then
    echo "real-program.sh: $why, and no $MPROF_PPCRE: install maxima-sage or cl-ppcre" >&2
    exit 1
fi
if ! compile_library; then
    echo "real-program.sh: $why, and it does not compile cl-ppcre; see $log" >&2
    exit 1
fi
echo "real program: cl-ppcre; $why" >&2
echo "library $folder/cl-ppcre.fas"
