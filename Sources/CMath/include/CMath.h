// libm's functions under separate names: the core must not import libc, which would make clocks, files and sockets
// available. Each function is a builtin, so the compiler still folds, vectorizes and inlines it.
#ifndef CMATH_H
#define CMATH_H

#include "CMathParticles.h"
#include "CMathReceivers.h"
#include "CMathTables.h"
#include "CMathVectors.h"
#include "CMathWalls.h"

static inline double cmath_exp(double x) { return __builtin_exp(x); }
static inline double cmath_log(double x) { return __builtin_log(x); }
static inline double cmath_log1p(double x) { return __builtin_log1p(x); }
static inline double cmath_log10(double x) { return __builtin_log10(x); }
static inline double cmath_pow(double x, double y) { return __builtin_pow(x, y); }
static inline double cmath_sin(double x) { return __builtin_sin(x); }
static inline double cmath_cos(double x) { return __builtin_cos(x); }
static inline double cmath_tan(double x) { return __builtin_tan(x); }
static inline double cmath_asin(double x) { return __builtin_asin(x); }
static inline double cmath_acos(double x) { return __builtin_acos(x); }
static inline double cmath_atan2(double y, double x) { return __builtin_atan2(y, x); }
static inline double cmath_hypot(double x, double y) { return __builtin_hypot(x, y); }
static inline double cmath_erfc(double x) { return __builtin_erfc(x); }
static inline double cmath_fmod(double x, double y) { return __builtin_fmod(x, y); }

static inline float cmath_expf(float x) { return __builtin_expf(x); }
static inline float cmath_logf(float x) { return __builtin_logf(x); }
static inline float cmath_log1pf(float x) { return __builtin_log1pf(x); }
static inline float cmath_sinf(float x) { return __builtin_sinf(x); }
static inline float cmath_cosf(float x) { return __builtin_cosf(x); }
static inline float cmath_erfcf(float x) { return __builtin_erfcf(x); }

#endif
