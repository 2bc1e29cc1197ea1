// libgps, the client library of gpsd; its header lies where pkg-config says.
//
// Swift sees only what is below: it does not import the masks of gps.h, which are macros with a suffix of their own, and
// would copy a struct of 24 kB with anonymous unions. No policy; what is sensible is decided in Swift.
#ifndef CGPS_H
#define CGPS_H

#include <errno.h>
#include <fcntl.h>
#include <gps.h>
#include <stdbool.h>
#include <stdlib.h>

#if GPSD_API_MAJOR_VERSION < 9
#error "libgps 3.20 or later is needed: before, no report had an error of the horizontal position"
#endif

// A connection to gpsd.
typedef struct cgps_connection cgps_connection;

// What one report of gpsd says; not-a-number where it says nothing.
typedef struct {
    bool is_version;   // gpsd's greeting
    bool has_position; // a report of a place, in a mode that has one
    int mode;          // 2: latitude and longitude, 3: altitude, too
    double latitude;   // degrees
    double longitude;
    double altitude; // metres above the WGS84 ellipsoid
    double eph;      // error of the horizontal position, metres
    double epx;      // error of the longitude, metres
    double epy;      // error of the latitude, metres
    double speed;    // metres per second over ground
    double track;    // degrees clockwise from true north
} cgps_report;

static inline struct gps_data_t *cgps_data(cgps_connection *connection) { return (struct gps_data_t *)connection; }

static inline void cgps_close(cgps_connection *connection) {
    gps_close(cgps_data(connection));
    free(connection);
}

// Connects, which may wait for the network; NULL if that failed, and then `error` is one of gps.h's NL_ codes, or errno.
static inline cgps_connection *cgps_open(const char *host, const char *port, int *error) {
    struct gps_data_t *data = (struct gps_data_t *)calloc(1, sizeof(struct gps_data_t));
    if (data == NULL) {
        *error = ENOMEM;
        return NULL;
    }
    errno = 0;
    if (gps_open(host, port, data) != 0 || data->gps_fd < 0) {
        *error = errno;
        free(data);
        return NULL;
    }
    // Programs that this one starts have no business with it.
    fcntl(data->gps_fd, F_SETFD, FD_CLOEXEC);
    return (cgps_connection *)data;
}

// The socket to wait on.
static inline int cgps_descriptor(cgps_connection *connection) { return (int)cgps_data(connection)->gps_fd; }

// Asks for reports; 0, or -1 with errno.
static inline int cgps_watch(cgps_connection *connection) {
    return gps_stream(cgps_data(connection), WATCH_ENABLE | WATCH_JSON, NULL);
}

// Takes the next report; 1 if there was one, 0 if there is none yet, -1 if the connection is lost, with errno or 0 if gpsd
// has closed it. Never waits.
static inline int cgps_read(cgps_connection *connection, cgps_report *report) {
    struct gps_data_t *data = cgps_data(connection);
    data->set = 0;
    errno = 0;
    int count = gps_read(data, NULL, 0);
    if (count <= 0) return count;
    const struct gps_fix_t *fix = &data->fix;
    report->is_version = (data->set & VERSION_SET) != 0;
    report->has_position = (data->set & LATLON_SET) != 0 && fix->mode >= MODE_2D;
    report->mode = fix->mode;
    report->latitude = fix->latitude;
    report->longitude = fix->longitude;
    report->altitude = fix->altHAE;
    report->eph = fix->eph;
    report->epx = fix->epx;
    report->epy = fix->epy;
    report->speed = fix->speed;
    report->track = fix->track;
    return 1;
}

static inline bool cgps_is_no_host(int error) { return error == NL_NOHOST; }
static inline bool cgps_is_no_connection(int error) { return error == NL_NOCONNECT; }

#endif
