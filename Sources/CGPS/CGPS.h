// libgps, the client library of gpsd.
//
// Swift uses only the declarations below: it does not import the masks of gps.h, which are macros with suffixes, and it
// would copy a struct of 24 kB with anonymous unions. These functions contain no policy; Swift validates the values.
#ifndef CGPS_H
#define CGPS_H

#if !__has_include(<gps.h>)
#error "The headers of libgps are missing. On Debian and Ubuntu, install the package libgps-dev."
#endif
#include <errno.h>
#include <fcntl.h>
#include <gps.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#if GPSD_API_MAJOR_VERSION < 9
#error "libgps 3.20 or later is required: earlier versions do not report the horizontal error"
#endif

// A connection to gpsd.
typedef struct cgps_connection cgps_connection;

// The content of one report from gpsd; missing values are NaN.
typedef struct {
    bool is_version;   // gpsd's greeting
    bool has_position; // a report with a position, in a mode that has one
    int mode;          // 2: latitude and longitude; 3: altitude too
    double latitude;   // degrees
    double longitude;
    double altitude; // metres above the WGS84 ellipsoid
    double eph;      // error of the horizontal position, metres
    double epx;      // error of the longitude, metres
    double epy;      // error of the latitude, metres
    double speed;    // metres per second over ground
    double track;    // degrees clockwise from true north
    int devices;     // the number of devices that the report lists; see cgps_device
} cgps_report;

static inline struct gps_data_t *cgps_data(cgps_connection *connection) { return (struct gps_data_t *)connection; }

static inline void cgps_close(cgps_connection *connection) {
    gps_close(cgps_data(connection));
    free(connection);
}

// Returns the reason of a failed connection, as one of gps.h's NL_ codes or as errno. libgps 3.27 leaves the system's errno,
// while earlier versions set it to a code.
static inline int cgps_reason(const char *host, const char *port, int number) {
    switch (number) {
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ETIMEDOUT: return NL_NOCONNECT;
    default: break;
    }
    if (number < 0) return number;
    struct addrinfo hints, *list = NULL;
    memset(&hints, 0, sizeof(hints));
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, port, &hints, &list) != 0) return NL_NOHOST;
    freeaddrinfo(list);
    return number != 0 ? number : NL_NOCONNECT;
}

// Connects to gpsd; this call can block on the network. On failure it returns NULL and sets `error` to one of gps.h's
// NL_ codes or to errno.
static inline cgps_connection *cgps_open(const char *host, const char *port, int *error) {
    struct gps_data_t *data = (struct gps_data_t *)calloc(1, sizeof(struct gps_data_t));
    if (data == NULL) {
        *error = ENOMEM;
        return NULL;
    }
    errno = 0;
    if (gps_open(host, port, data) != 0 || data->gps_fd < 0) {
        *error = cgps_reason(host, port, errno);
        free(data);
        return NULL;
    }
    // Child processes must not inherit the socket.
    fcntl(data->gps_fd, F_SETFD, FD_CLOEXEC);
    return (cgps_connection *)data;
}

// Returns the socket to wait on.
static inline int cgps_descriptor(cgps_connection *connection) { return (int)cgps_data(connection)->gps_fd; }

// Requests reports. Returns 0, or -1 with errno.
static inline int cgps_watch(cgps_connection *connection) {
    return gps_stream(cgps_data(connection), WATCH_ENABLE | WATCH_JSON, NULL);
}

// Reads the next report without blocking. Returns 1 if there was one, 0 if there is none yet, and -1 if the connection
// is lost, with errno, which is 0 if gpsd closed the connection.
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
    report->devices = 0;
    if ((data->set & DEVICELIST_SET) != 0)
        report->devices = data->devices.ndevices < MAXUSERDEVS ? data->devices.ndevices : MAXUSERDEVS;
    else if ((data->set & DEVICE_SET) != 0)
        report->devices = 1;
    return 1;
}

// Returns the path of a device that the latest report lists, valid until the next call of cgps_read.
static inline const char *cgps_device(cgps_connection *connection, int index) {
    struct gps_data_t *data = cgps_data(connection);
    if ((data->set & DEVICELIST_SET) != 0) return data->devices.list[index].path;
    return data->dev.path;
}

static inline bool cgps_is_no_host(int error) { return error == NL_NOHOST; }
static inline bool cgps_is_no_connection(int error) { return error == NL_NOCONNECT; }

#endif
