// The functions of zlib that the package uses, as its interface of version 1 declares them. libarchive needs the library
// itself, but not its headers and its link name, which are in another package of Debian. .ci/link compares the
// declarations with those of the library.
#ifndef CZLIB_H
#define CZLIB_H

#ifndef ZLIB_H
typedef struct z_stream_s {
    const unsigned char *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    struct internal_state *state;
    void *(*zalloc)(void *, unsigned int, unsigned int);
    void (*zfree)(void *, void *);
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
} z_stream;

#define Z_NO_FLUSH 0
#define Z_OK 0
#define Z_STREAM_END 1
#define Z_MEM_ERROR (-4)
#define Z_BUF_ERROR (-5)
#endif

int inflateInit2_(z_stream *stream, int windowBits, const char *version, int size);
int inflate(z_stream *stream, int flush);
int inflateReset(z_stream *stream);
int inflateEnd(z_stream *stream);

// Begins to decompress data in the gzip format or in the zlib format. zlib compares the first digit of the version and the
// size of the structure with its own. Swift code has no access to the macro `inflateInit2`.
static inline int czlib_begin(z_stream *stream, int isGzip) {
    return inflateInit2_(stream, isGzip ? 15 + 16 : 15, "1", (int)sizeof(z_stream));
}

#endif
