// MUTANT=N makes mutant N effective. MUTANTS_REACHED=FILE appends the numbers of the mutants that the process reached to
// FILE when the process ends.

#include "switch.h"
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 16 };

int mutants_chosen;
unsigned char *mutants_reached;

__attribute__((constructor)) static void mutants_start(void) {
    const char *chosen = getenv("MUTANT");
    if (chosen) mutants_chosen = atoi(chosen);
    if (getenv("MUTANTS_REACHED")) mutants_reached = calloc(MOST, 1);
}

__attribute__((destructor)) static void mutants_end(void) {
    FILE *file = mutants_reached ? fopen(getenv("MUTANTS_REACHED"), "a") : NULL;
    if (!file) return;
    for (int number = 0; number < MOST; number++) {
        if (mutants_reached[number]) fprintf(file, "%d\n", number);
    }
    fclose(file);
}
