# page.awk - make a manual page: awk -v version=V -f page.awk options.in PAGE.in
#
# @PACKAGE_VERSION@ becomes V.  A line  .\" option NAME  becomes the description of that
# option, which begins in options.in below a line  .\" OPTION NAME.
NR == FNR {
    if ($1 == ".\\\"" && $2 == "OPTION") name = $3
    else if (name != "") text[name] = text[name] $0 "\n"
    next
}
$1 == ".\\\"" && $2 == "option" {
    if (!($3 in text)) {
        print FILENAME ": there is no option " $3 >"/dev/stderr"
        exit 1
    }
    printf "%s", text[$3]
    next
}
{ gsub(/@PACKAGE_VERSION@/, version); print }
