# Each file as an array of its lines for C: page.css becomes page_css.

FNR == 1 {
    if (NR > 1)
        print "    NULL};"
    name = FILENAME
    sub(/.*\//, "", name)
    gsub(/[^a-z]/, "_", name)
    print "static const char *const " name "[] = {"
}
{
    gsub(/\\/, "&&")
    gsub(/["?]/, "\\\\&") # a question mark could be one of a trigraph
    print "    \"" $0 "\\n\","
}
END { print "    NULL};" }
