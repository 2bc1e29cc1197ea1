// The functions of libdbus, the reference implementation of D-Bus, that the package uses, as its interface of version 1
// declares them. The library's own headers are in a folder that only pkg-config knows. If the manifest asked pkg-config,
// SwiftPM would warn each user of the package without libdbus, although the core doesn't need it. .ci/link compares the
// declarations with those of the library.
#ifndef CDBUS_H
#define CDBUS_H

#include <stdint.h>

typedef uint32_t dbus_uint32_t;
typedef uint32_t dbus_bool_t;

typedef struct DBusConnection DBusConnection;
typedef struct DBusMessage DBusMessage;

#ifndef DBUS_ERROR_H
typedef struct DBusError {
    const char *name;
    const char *message;
    unsigned int dummy1 : 1;
    unsigned int dummy2 : 1;
    unsigned int dummy3 : 1;
    unsigned int dummy4 : 1;
    unsigned int dummy5 : 1;
    void *padding1;
} DBusError;
#endif

#ifndef DBUS_MESSAGE_H
typedef struct DBusMessageIter {
    void *dummy1;
    void *dummy2;
    dbus_uint32_t dummy3;
    int dummy4;
    int dummy5;
    int dummy6;
    int dummy7;
    int dummy8;
    int dummy9;
    int dummy10;
    int dummy11;
    int pad1;
    void *pad2;
    void *pad3;
} DBusMessageIter;
#endif

#ifndef DBUS_SHARED_H
typedef enum { DBUS_BUS_SESSION, DBUS_BUS_SYSTEM, DBUS_BUS_STARTER } DBusBusType;
#endif

#ifndef DBUS_PROTOCOL_H
#define DBUS_MESSAGE_TYPE_METHOD_CALL 1
#define DBUS_MESSAGE_TYPE_METHOD_RETURN 2
#define DBUS_MESSAGE_TYPE_ERROR 3
#define DBUS_MESSAGE_TYPE_SIGNAL 4
#endif

void dbus_error_init(DBusError *error);
void dbus_error_free(DBusError *error);
void dbus_free(void *memory);

DBusConnection *dbus_bus_get_private(DBusBusType type, DBusError *error);
dbus_bool_t dbus_bus_register(DBusConnection *connection, DBusError *error);
void dbus_bus_add_match(DBusConnection *connection, const char *rule, DBusError *error);

DBusConnection *dbus_connection_open_private(const char *address, DBusError *error);
void dbus_connection_close(DBusConnection *connection);
void dbus_connection_unref(DBusConnection *connection);
void dbus_connection_set_exit_on_disconnect(DBusConnection *connection, dbus_bool_t exit_on_disconnect);
dbus_bool_t dbus_connection_get_unix_fd(DBusConnection *connection, int *descriptor);
dbus_bool_t dbus_connection_has_messages_to_send(DBusConnection *connection);
dbus_bool_t dbus_connection_read_write(DBusConnection *connection, int timeout_milliseconds);
dbus_bool_t dbus_connection_send(DBusConnection *connection, DBusMessage *message, dbus_uint32_t *serial);
DBusMessage *dbus_connection_pop_message(DBusConnection *connection);

DBusMessage *dbus_message_new(int message_type);
DBusMessage *dbus_message_demarshal(const char *bytes, int length, DBusError *error);
dbus_bool_t dbus_message_marshal(DBusMessage *message, char **bytes, int *length);
void dbus_message_unref(DBusMessage *message);
int dbus_message_get_type(DBusMessage *message);
dbus_uint32_t dbus_message_get_serial(DBusMessage *message);
dbus_uint32_t dbus_message_get_reply_serial(DBusMessage *message);
dbus_bool_t dbus_message_get_no_reply(DBusMessage *message);
const char *dbus_message_get_destination(DBusMessage *message);
const char *dbus_message_get_error_name(DBusMessage *message);
const char *dbus_message_get_interface(DBusMessage *message);
const char *dbus_message_get_member(DBusMessage *message);
const char *dbus_message_get_path(DBusMessage *message);
const char *dbus_message_get_sender(DBusMessage *message);
void dbus_message_set_serial(DBusMessage *message, dbus_uint32_t serial);
dbus_bool_t dbus_message_set_reply_serial(DBusMessage *message, dbus_uint32_t serial);
void dbus_message_set_no_reply(DBusMessage *message, dbus_bool_t no_reply);
dbus_bool_t dbus_message_set_destination(DBusMessage *message, const char *destination);
dbus_bool_t dbus_message_set_error_name(DBusMessage *message, const char *name);
dbus_bool_t dbus_message_set_interface(DBusMessage *message, const char *interface);
dbus_bool_t dbus_message_set_member(DBusMessage *message, const char *member);
dbus_bool_t dbus_message_set_path(DBusMessage *message, const char *path);

dbus_bool_t dbus_message_iter_init(DBusMessage *message, DBusMessageIter *iterator);
dbus_bool_t dbus_message_iter_next(DBusMessageIter *iterator);
int dbus_message_iter_get_arg_type(DBusMessageIter *iterator);
int dbus_message_iter_get_element_type(DBusMessageIter *iterator);
void dbus_message_iter_recurse(DBusMessageIter *iterator, DBusMessageIter *inner);
char *dbus_message_iter_get_signature(DBusMessageIter *iterator);
void dbus_message_iter_get_basic(DBusMessageIter *iterator, void *value);
void dbus_message_iter_get_fixed_array(DBusMessageIter *iterator, void *value, int *count);
void dbus_message_iter_init_append(DBusMessage *message, DBusMessageIter *iterator);
dbus_bool_t dbus_message_iter_append_basic(DBusMessageIter *iterator, int type, const void *value);
dbus_bool_t dbus_message_iter_open_container(
    DBusMessageIter *iterator, int type, const char *signature, DBusMessageIter *inner);
dbus_bool_t dbus_message_iter_close_container(DBusMessageIter *iterator, DBusMessageIter *inner);
void dbus_message_iter_abandon_container(DBusMessageIter *iterator, DBusMessageIter *inner);

#endif
