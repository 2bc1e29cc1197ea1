#include "CBench.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

static _Thread_local uint64_t allocations;
static _Thread_local int64_t bytes;
static _Thread_local int64_t most_bytes;

uint64_t cbench_allocations(void) { return allocations; }

int64_t cbench_bytes(void) { return bytes; }

int64_t cbench_heap_bytes(void) {
#if defined(__GLIBC__)
    struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
#else
    return 0;
#endif
}

int64_t cbench_most_bytes(void) { return most_bytes; }

void cbench_forget_most(void) { most_bytes = bytes; }

// The sanitizers have their own malloc.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define CBENCH_SANITIZED
#endif
#endif

#if defined(__GLIBC__) && !defined(CBENCH_SANITIZED)

// A program's malloc takes precedence over the C library's. These functions count the allocations, and call the
// library's functions.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);
extern size_t malloc_usable_size(void *memory);

static void *counted(void *memory) {
    allocations++;
    bytes += (int64_t)malloc_usable_size(memory);
    if (bytes > most_bytes) most_bytes = bytes;
    return memory;
}

void *malloc(size_t size) {
    return counted(__libc_malloc(size));
}

void free(void *memory) {
    bytes -= (int64_t)malloc_usable_size(memory);
    __libc_free(memory);
}

void *calloc(size_t elements, size_t size) {
    return counted(__libc_calloc(elements, size));
}

void *realloc(void *memory, size_t size) {
    int64_t before = (int64_t)malloc_usable_size(memory);
    void *found = counted(__libc_realloc(memory, size));
    // If a block could not be enlarged, the old block still exists.
    if (found || size == 0) bytes -= before;
    return found;
}

void *memalign(size_t alignment, size_t size) {
    return counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
    return counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    // The error is returned (EINVAL, ENOMEM); this function does not set errno.
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return 22;
    void *found = counted(__libc_memalign(alignment, size));
    if (!found) return 12;
    *memory = found;
    return 0;
}

#endif
