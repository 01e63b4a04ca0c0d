/* main.c - the command `mprof`. */
#include "command.h"

int main(int argc, char **argv) {
    return mprof__report_main(argc, argv, stdout, stderr);
}
