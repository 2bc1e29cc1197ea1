// The switches of mutants. Each mutated file imports this module.

/// The number of the mutant that this process runs; 0 for none.
extern int mutants_chosen;
/// A byte for each mutant that was reached; NULL if nobody wants to know.
extern unsigned char *mutants_reached;

static inline _Bool mutant(int number) {
    if (__builtin_expect(mutants_reached != 0, 0)) mutants_reached[number] = 1;
    return __builtin_expect(mutants_chosen == number, 0);
}
