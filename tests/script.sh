# shellcheck shell=sh
# script.sh - what each tests/run-*.test sources first.
#
# Sets srcdir, tests and programs, folders of the project, and scratch, a folder
# of the test's own that goes when it ends.  What the machine's user has set up
# for Lisp or keeps at home, and the descriptors that the caller has open, are not
# what is tested, and nothing is left there.
srcdir=$(cd "$(dirname "$0")/.." && pwd) || exit 99
tests=$srcdir/tests
# shellcheck disable=SC2034 # for who sources this
programs=$tests/programs
scratch=$(mktemp -d "${TMPDIR:-/tmp}/mprof-test-XXXXXX") || exit 99
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
unset MPROF_DATA MPROF_RUN MPROF_LIMIT MPROF_LIVE MPROF_START MPROF_CHILDREN LD_PRELOAD

HOME=$scratch/.home
XDG_CACHE_HOME=$HOME/cache XDG_CONFIG_HOME=$HOME/config XDG_DATA_HOME=$HOME/data
XDG_CONFIG_DIRS=$HOME/none XDG_DATA_DIRS=$HOME/none
CL_SOURCE_REGISTRY='(:source-registry :ignore-inherited-configuration)'
export HOME XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_CONFIG_DIRS \
    XDG_DATA_DIRS CL_SOURCE_REGISTRY
unset ASDF_OUTPUT_TRANSLATIONS XDG_RUNTIME_DIR
mkdir "$HOME" || exit 99

# skip WHAT: WHY: a part that cannot be tested here.  The others are, but a test
# that leaves something out does not count as passed.
skip () {
    echo "skip $*"
    echo "$*" >>"$scratch/.skipped"
}

# needs COMMAND: it is here, or what is being tested is skipped
needs () {
    command -v "$1" >/dev/null && return
    skip "${name:+$name: }there is no $1"
    return 1
}

# skip_all WHY: nothing of it can be tested here
skip_all () {
    echo "skip: $*"
    exit 77
}

# finish FAILED: the end of the test; FAILED is 0 when all went well
finish () {
    [ "$1" = 0 ] || exit 1
    [ ! -s "$scratch/.skipped" ] || exit 77
    exit 0
}
