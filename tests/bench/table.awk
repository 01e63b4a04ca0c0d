# table.awk - the lines of the table that the benchmark prints.
#
# Input, fields separated by tabs, from the file of measurements:
#     time ROW TOOL VALUE
# and then the lines that are wanted:
#     head TITLE ALONE MPROF HEAPTRACK     what stands above the columns
#     row LABEL GOAL ROW            medians, mprof's ratio to the program alone
#     mean LABEL GOAL ROW...        geometric mean of the ratios of these rows
#     overhead LABEL GOAL ROW       (mprof - alone) / (heaptrack - alone)
#     growth LABEL GOAL ROW ROW     (mprof - alone), last row to first row
#     each LABEL GOAL N ROW [ROW]   (mprof - alone) / N, less the last row's
#     ratios LABEL GOAL ROW ROW     the last row's ratio to the first one's
#     value LABEL GOAL ROW          the median of mprof's values itself
# GOAL may be empty; what was not measured is, too.
BEGIN {
    FS = "\t"
    split("alone mprof heaptrack", tools, " ")
}

$1 == "time" { value[$2, $3, ++count[$2, $3]] = $4 + 0 }
$1 == "head" {
    printf "\n%-38s %9s %9s %7s %10s %7s  %4s\n", $2, $3, $4,
        $3 == "" ? "" : "ratio", $5, $5 == "" ? "" : "ratio", "goal"
}
$1 == "row" { row($2, $3, $4) }
$1 == "mean" { print_line($2, $3, mean()) }
$1 == "overhead" {
    print_line($2, $3, ratio(cost($4, "mprof"), cost($4, "heaptrack")))
}
$1 == "growth" {
    print_line($2, $3, ratio(cost($NF, "mprof"), cost($4, "mprof")))
}
$1 == "each" { each() }
$1 == "ratios" {
    print_line($2, $3, ratio(slowdown($5, "mprof"), slowdown($4, "mprof")))
}
$1 == "value" {
    v = median($4, "mprof")
    print_columns($2, "", two(v), "", "", "", $3, v)
}

# "" when there is no measurement
function median(name, tool,    n, i, j, v, sorted) {
    n = count[name, tool]
    if (!n) return ""
    for (i = 1; i <= n; i++) {
        v = value[name, tool, i]
        for (j = i; j > 1 && sorted[j - 1] > v; j--) sorted[j] = sorted[j - 1]
        sorted[j] = v
    }
    return (sorted[int((n + 1) / 2)] + sorted[int(n / 2) + 1]) / 2
}

# What TOOL adds to the program alone
function cost(name, tool,    with, without) {
    with = median(name, tool)
    without = median(name, "alone")
    return with == "" || without == "" ? "" : with - without
}

function ratio(a, b) {
    return a == "" || b == "" || b <= 0 ? "" : a / b
}

function slowdown(name, tool) {
    return ratio(median(name, tool), median(name, "alone"))
}

function each(    v, less) {
    v = cost($5, "mprof")
    less = NF > 5 ? cost($6, "mprof") : 0
    v = v == "" || less == "" ? "" : (v - less) / $4
    print_columns($2, "", v == "" ? "" : two(v), "", "", "", $3, v)
}

function mean(    i, r, sum) {
    for (i = 4; i <= NF; i++) {
        r = slowdown($i, "mprof")
        if (r == "") return ""
        sum += log(r)
    }
    return exp(sum / (NF - 3))
}

function row(label, goal, name,    r) {
    r = slowdown(name, "mprof")
    print_columns(label, time(name, "alone"), time(name, "mprof"), two(r),
        time(name, "heaptrack"), two(slowdown(name, "heaptrack")), goal, r)
}

function print_line(label, goal, r) {
    print_columns(label, "", "", two(r), "", "", goal, r)
}

function print_columns(label, alone, mprof, r, heaptrack, its, goal, reached,
        stands) {
    if (goal != "")
        stands = reached == "" ? "not measured" : reached <= goal + 0 ? \
            "reached" : sprintf("not reached: %.2f of %.2f", reached, goal)
    printf "%-38s %9s %9s %7s %10s %7s  %4s  %s\n", "  " label, alone, mprof,
        r, heaptrack, its, goal == "" ? "" : sprintf("%.2f", goal), stands
}

function time(name, tool,    v) {
    v = median(name, tool)
    return v == "" ? "" : sprintf("%.1f", v)
}

function two(v) {
    return v == "" ? "" : sprintf(v < 100 ? "%.2f" : "%.0f", v)
}
