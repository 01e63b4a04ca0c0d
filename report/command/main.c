/* main.c - the command `mprof`. */
#include <string.h>

#include "report/command/command.h"
#include "report/command/run.h"

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "run") == 0)
        return report__run_main(argc - 1, argv + 1);
    return report__main(argc, argv, stdout, stderr);
}
