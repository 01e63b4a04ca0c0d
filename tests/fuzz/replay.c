/* replay.c FILE... - what libFuzzer would do with these files: call the target
 * once with the bytes of each. */
#include "tests/fuzz/fuzz.h"

/* As many bytes as there are: reading past them is noticed. */
static void replay(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(2);
    }
    long size = ftell(file);
    rewind(file);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    FUZZ_EXPECT(data && size >= 0);
    FUZZ_EXPECT(fread(data, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        printf("file %s\n", argv[i]);
        fflush(stdout);
        replay(argv[i]);
    }
    return 0;
}
