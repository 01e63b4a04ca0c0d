/* commands.c - the commands: their purposes, and the start of their help. */
#include "report/command/command.h"

/* Of --depth: tables show few callers; pictures are no higher than 1,000, and
 * each level of a deep recursion that allocates is a chain as long as it is
 * deep. */
enum { TABLE_DEPTH = 5, CHAIN_DEPTH = 1000 };

#define DATA "[OPTION]... [[PROGRAM] DATA]..."

const struct report__command report__commands[MPROF_COMMANDS] = {
    {"report", "print tables of what was recorded (the default)", DATA,
     "Print tables of the data file DATA (mprof.data), or of several "
     "together.\n"
     "PROGRAM is the recorded program's file, if it is not where it was.\n",
     "  mprof                       print the usual tables of mprof.data\n"
     "  mprof --table=leaks,peak    print unfreed objects, and the peak\n"
     "  mprof --focus=parse         print only chains through parse\n",
     TABLE_DEPTH, true, report__check_report, report__run_report},
    {"summary", "print only the summary of the report", DATA,
     "Print in at most 30 lines how much was allocated, and what was found:\n"
     "leaks, what fills the heap at its peak, who allocates most.\n",
     "  mprof summary\n"
     "  mprof summary --bytes old.data\n"
     "  mprof summary --heap=lisp mprof.data\n",
     TABLE_DEPTH, true, NULL, report__run_summary},
    {"run", "run a program and record what it allocates",
     "[OPTION]... [--] PROGRAM [ARGUMENT]...",
     "Run PROGRAM, and record each allocation into a data file.\n",
     "  mprof run ./program -x      record into mprof.data\n"
     "  mprof run -o a.data make    record make, and all that it starts\n"
     "  mprof run --lisp ecl        record the Lisp heap of any ECL\n",
     0, false, report__check_run, NULL},
    {"html", "make a page for a browser", DATA,
     "Make a page for a browser of one data file, or of several together: "
     "chains as a\n"
     "picture, tables, the heap over time.  It needs no other file and no "
     "network.\n",
     "  mprof html -o report.html\n"
     "  mprof html -o report.html a.data b.data\n"
     "  mprof html --type=hash-table -o tables.html lisp.data\n",
     CHAIN_DEPTH, false, report__check_not_terminal, report__run_html},
    {"diff", "print what grew between two recordings",
     "[OPTION]... [PROGRAM] OLD [PROGRAM] NEW",
     "Print what grew and what shrank from the data file OLD to NEW.  "
     "Functions\n"
     "are the same if their names and the names of their files are.\n",
     "  mprof diff old.data new.data\n"
     "  mprof diff --by=line --sort=kept old.data new.data\n"
     "  mprof diff --fail-on-growth=1% old.data new.data\n",
     TABLE_DEPTH, false, report__check_diff, report__run_diff},
    {"curve", "print the heap over time", "[OPTION]... [PROGRAM] [DATA]",
     "Print how the heap of a program grew and shrank over time.\n",
     "  mprof curve                 draw it on a terminal\n"
     "  mprof curve --format=tsv    print numbers for gnuplot\n"
     "  mprof curve --resolution=0.1s\n",
     0, false, report__check_curve, report__run_curve},
    {"export", "write call chains for another tool", DATA,
     "Write the call chains of one heap for another tool.\n",
     "  mprof export --format=folded | flamegraph.pl >flames.svg\n"
     "  mprof export --format=pprof -o profile.pb.gz\n"
     "  mprof export --format=callgrind -o callgrind.out.1\n",
     CHAIN_DEPTH, false, report__check_export, report__run_export},
    {"list", "list data files and their processes", "[OPTION]... [FILE]...",
     "List data files: when each was begun, by which process, what it "
     "allocated, and\n"
     "its program.  Without FILE: mprof.data and mprof.data.* here.\n",
     "  mprof list\n"
     "  mprof list --sort=bytes *.data\n"
     "  mprof list --sort=time -o processes.txt\n",
     0, true, NULL, report__run_list},
    {"stats", "print the load of many processes", "[OPTION]... [FILE]...",
     "Print the load that processes put on the C heap, from their data files "
     "or logs.\n",
     "  mprof run --stats make; mprof stats mprof.data*\n"
     "  mprof stats program.log\n"
     "  mprof stats --format=plain mprof.data*\n",
     0, false, NULL, report__run_stats},
    {"check", "fail when a program allocates too much", DATA,
     "Compare a recording with limits.  The exit status is 0 if it keeps all "
     "of them,\n"
     "and 3 if not.\n",
     "  mprof check --max=bytes=10m --max=parse:allocs=2000\n"
     "  mprof check --budget=budget --update=5%\n"
     "  mprof check --budget=budget --format=junit -o result.xml\n",
     0, false, report__check_check, report__run_check},
    {"completion", "print completions for a shell", "[OPTION]... SHELL",
     "Print what completes mprof's commands and options in SHELL: bash, zsh or "
     "fish.\n",
     "  eval \"$(mprof completion bash)\"\n"
     "  mprof completion zsh -o ~/.zfunc/_mprof\n"
     "  mprof completion fish | source\n",
     0, false, NULL, report__run_completion},
    {"help", "print this, or the help of a command", "[OPTION]... [COMMAND]",
     "", "", 0, false, NULL, report__run_help}};

const struct report__command *report__find_command(const char *name) {
    for (int i = 0; i < MPROF_COMMANDS; i++)
        if (strcmp(report__commands[i].name, name) == 0)
            return &report__commands[i];
    return NULL;
}

static void print_general(FILE *out) {
    fputs(
        "Usage: mprof [COMMAND] [OPTION]... [ARGUMENT]...\n"
        "Record each allocation of a program with its callers, and print who\n"
        "allocates what.\n"
        "\n"
        "Examples:\n"
        "  mprof run ./program         record ./program into mprof.data\n"
        "  mprof                       print what it allocated, and its leaks\n"
        "  mprof html -o report.html   make a page for a browser\n"
        "\n"
        "Commands:\n",
        out);
    for (int i = 0; i < MPROF_COMMANDS; i++)
        fprintf(out, "  %-12s%s\n", report__commands[i].name,
                report__commands[i].purpose);
    fputs("\n`mprof help COMMAND` and `mprof COMMAND --help` print the options "
          "of a command.\n"
          "The manual: man mprof.  The version: mprof --version\n",
          out);
}

void report__print_help(FILE *out, const struct report__command *command) {
    if (!command || command == &report__commands[MPROF_COMMAND_HELP]) {
        print_general(out);
        report__describe_options(1u << MPROF_COMMAND_HELP, out);
        return;
    }
    fprintf(out, "Usage: mprof %s%s%s %s\n%s\nExamples:\n%s",
            command == report__commands ? "[" : "", command->name,
            command == report__commands ? "]" : "", command->arguments,
            command->help, command->examples);
    report__describe_options(1u << (command - report__commands), out);
}
