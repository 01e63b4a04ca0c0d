/* main.c - the command `mprof`. */
#include <string.h>

#include "report/base/budget.h"
#include "report/command/command.h"
#include "report/command/run.h"

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "run") == 0)
        return report__run_main(argc - 1, argv + 1);
    report__budget_begin();
    return report__main(argc, argv, stdout, stderr);
}
