// libmicrohttpd, an embedded HTTP server.
//
// Swift can't call C functions with variable arguments, so the functions below call them. They contain no policy.
#pragma once
#if !__has_include(<microhttpd.h>)
#error "The headers of libmicrohttpd are missing. On Debian and Ubuntu, install the package libmicrohttpd-dev."
#endif
#include <microhttpd.h>

/// Starts a daemon with one polling thread on a listening socket, which the daemon then owns. Returns NULL on failure.
///
/// `context` is the first argument of all callbacks. `timeout` is the number of seconds without traffic after which
/// the daemon closes a connection; suspended connections have no timeout.
static inline struct MHD_Daemon *mhd_start(
    int socket, unsigned int connections, unsigned int timeout, MHD_AccessHandlerCallback handler,
    void *(*target)(void *context, const char *uri, struct MHD_Connection *connection),
    MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback notify, void *context) {
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handler, context,
        MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_TIMEOUT,
        timeout, MHD_OPTION_URI_LOG_CALLBACK, target, context, MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_NOTIFY_CONNECTION, notify, context, MHD_OPTION_END);
}

/// Returns the pointer that `notify` has stored for the connection.
static inline void *mhd_socket_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/// Returns the socket of a connection; -1 if it is unknown.
static inline int mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// Returns the address of a connection's client; NULL if it is unknown.
static inline const struct sockaddr *mhd_client(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

/// The size of a response whose end isn't known in advance. Swift doesn't import the macros.
static const uint64_t mhd_size_unknown = MHD_SIZE_UNKNOWN;
/// The result of a content reader at the end of a response.
static const ssize_t mhd_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;
