# situations.awk - the C heap of `mprof --sexp` as lines; see situations.sh.
#
# Line breaks do not matter.  A value is known by the keys on the way to it, as
# in ":c-heap :functions :self".  Functions of one name are added up.

function way(    i, text) {
    for (i = 1; i <= depth; i++)
        if (key[i] != "")
            text = text (text == "" ? "" : " ") key[i]
    return text
}

# An atom: a key, the value of one, or number N of an unnamed list, which are
# allocations and bytes of the classes by turns.
function atom(text,    at, n) {
    at = way()
    if (key[depth] == "" && text ~ /^:/) {
        key[depth] = text
        return
    }
    if (key[depth] != "") {
        fields[at] = text
        key[depth] = ""
        return
    }
    n = ++place[depth]
    if (at == ":c-heap :arcs" && n <= 2)
        end[n] = text
    else if (at == ":c-heap :sizes" && n >= 2)
        bins[n - 1] += text
    else
        sum[at, n % 2] += text
}

function taken(at,    text) {
    text = sprintf("%.0f %.0f", sum[at, 1], sum[at, 0])
    sum[at, 1] = sum[at, 0] = 0
    return text
}

function add(name, numbers,    n, more, i) {
    n = split(numbers, more, " ")
    if (!(name in width))
        order[++names_count] = name
    width[name] = n
    for (i = 1; i <= n; i++)
        facts[name, i] += more[i]
}

function function_ended(at,    name) {
    name = fields[at " :name"]
    names[fields[at " :id"]] = name
    add("self\t" name, taken(at " :self") " " taken(at " :freed"))
    add("through\t" name, taken(at " :total"))
}

# A list has ended; it was the value of a key, or an element of such a list.
function ended(    at) {
    depth--
    at = way()
    if (depth == 3 && at == ":c-heap :threads")
        threads++
    if (depth != 3)
        key[depth] = ""
    else if (at == ":c-heap :functions")
        function_ended(at)
    else if (at == ":c-heap :arcs")
        add("arc\t" names[end[1]] "\t" names[end[2]], taken(at))
}

# As it stands there: large numbers stay whole.
function heap(name,    at) {
    at = ":c-heap :" name
    return at in fields ? fields[at] : 0
}

{
    rest = $0
    while (match(rest, /^[ \t]*("([^"\\]|\\.)*"|[()]|[^ \t()"]+)/)) {
        token = substr(rest, 1, RLENGTH)
        rest = substr(rest, RLENGTH + 1)
        sub(/^[ \t]*/, "", token)
        if (token == "(") {
            depth++
            key[depth] = ""
            place[depth] = 0
        } else if (token == ")") {
            ended()
        } else {
            if (token ~ /^"/)
                token = substr(token, 2, length(token) - 2)
            atom(token)
        }
    }
}

END {
    print "state\t" fields[":state"]
    print "program\t" fields[":program"]
    printf "unplaced\t%.0f\n", fields[":unplaced"] + heap("unplaced-frees")
    print "total\t" heap("allocs") " " heap("bytes") " " heap("frees") " " \
        heap("freed-bytes")
    printf "bins\t%.0f %.0f %.0f %.0f\n", bins[1], bins[2], bins[3], bins[4]
    print "cut\t" heap("cut")
    print "failed\t" heap("failed")
    print "peak\t" heap("peak :bytes") " " heap("peak :objects")
    print "threads\t" threads
    print "unknown\t" heap("unknown-frees")
    print "untracked\t" heap("untracked")
    for (i = 1; i <= names_count; i++) {
        line = order[i] "\t"
        for (j = 1; j <= width[order[i]]; j++)
            line = line (j > 1 ? " " : "") sprintf("%.0f", facts[order[i], j])
        print line
    }
}
