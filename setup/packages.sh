# shellcheck shell=dash # Debian's sh, which has "local"
# shellcheck disable=SC2154 # bootstrap has: log, build
# packages.sh - for bootstrap: install packages that are missing, or name them.

missing_packages() {
    local package
    for package in "$@"; do
        case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
        installed) ;;
        *) printf ' %s' "$package" ;;
        esac
    done
}

list_packages() {
    dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | LC_ALL=C sort -u
}

install_packages() {
    local tool missing
    for tool in apt-get dpkg-query; do
        command -v $tool >/dev/null ||
            die "this is no Debian system: there is no $tool; README tells the way by hand"
    done
    # shellcheck disable=SC2086 # lists of words
    missing=$(missing_packages $1)
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        echo "bootstrap: some packages are missing; let root run:" >&2
        echo "apt-get install -y --no-install-recommends$missing" >&2
        exit 1
    fi
    # An archive of a third party may fail; the installation shows what counts.
    step 'bringing the list of packages up to date' \
        apt-get -q -o Acquire::Retries=2 update || true
    # shellcheck disable=SC2086 # several words
    set -- $missing
    list_packages >"$build/packages.before"
    # An interrupted call may have left dpkg in the middle of something.
    if ! step "installing $# packages" env DEBIAN_FRONTEND=noninteractive \
        sh -c 'dpkg --configure -a && exec "$@"' sh \
        apt-get -q -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$@"; then
        if grep -Eq 'Could not (resolve|connect)|Temporary failure|Unable to connect|unreachable|timed out' "$log"; then
            die "no network: apt-get cannot fetch$missing (log: $log)"
        fi
        fail "packages cannot be installed"
    fi
    # With what they need, for who wants to remove them again.
    list_packages | LC_ALL=C comm -13 "$build/packages.before" - >>"$build/packages"
    rm -f "$build/packages.before"
    say "$(wc -l <"$build/packages") packages were installed; their names: $build/packages"
}
