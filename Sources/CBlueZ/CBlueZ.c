#include "CBlueZ.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    protocol_hci = 1,
    channel_raw = 0,
    level_hci = 0,
    option_filter = 2,
    option_timestamp = 3,
    message_timestamp = 2,
    flag_up = 1 << 0,
    type_mask = 0x30,
    // SO_MEMINFO (asm-generic/socket.h), and the index of the dropped packets in its result (linux/sock_diag.h).
    option_meminfo = 55,
    meminfo_dropped = 8,
    meminfo_count = 9,
};

struct address {
    sa_family_t family;
    uint16_t device;
    uint16_t channel;
};
_Static_assert(sizeof(struct address) == 6, "sockaddr_hci");

struct filter {
    uint32_t types;
    uint32_t events[2];
    uint16_t opcode;
};
_Static_assert(sizeof(struct filter) == 16, "hci_ufilter");

struct device_list {
    uint16_t count;
    struct {
        uint16_t id;
        uint32_t option;
    } devices[CBLUEZ_MAXIMUM_DEVICES];
};
_Static_assert(offsetof(struct device_list, devices) == 4, "hci_dev_list_req");

struct device_info {
    uint16_t id;
    char name[8];
    uint8_t address[6];
    uint32_t flags;
    uint8_t type;
    uint8_t features[8];
    uint32_t packet_type, link_policy, link_mode;
    uint16_t acl_mtu, acl_packets, sco_mtu, sco_packets;
    uint32_t statistics[10];
};
_Static_assert(offsetof(struct device_info, flags) == 16 && sizeof(struct device_info) == 92, "hci_dev_info");

#define DEVICE_UP _IOW('H', 201, int)
#define DEVICE_DOWN _IOW('H', 202, int)
#define DEVICE_LIST _IOR('H', 210, int)
#define DEVICE_INFO _IOR('H', 211, int)

static int checked(int result) { return result < 0 ? -errno : result; }

int cbluez_open(void) {
    return checked(socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol_hci));
}

int cbluez_bind(int socket, uint16_t device) {
    struct address address = {AF_BLUETOOTH, device, channel_raw};
    return checked(bind(socket, (struct sockaddr *)&address, sizeof address));
}

int cbluez_set_filter(int socket, uint32_t types, uint64_t events) {
    struct filter filter = {types, {(uint32_t)events, (uint32_t)(events >> 32)}, 0};
    return checked(setsockopt(socket, level_hci, option_filter, &filter, sizeof filter));
}

int cbluez_get_filter(int socket, uint32_t *types, uint64_t *events) {
    struct filter filter = {0};
    socklen_t length = sizeof filter;
    int result = checked(getsockopt(socket, level_hci, option_filter, &filter, &length));
    *types = filter.types;
    *events = (uint64_t)filter.events[1] << 32 | filter.events[0];
    return result;
}

int cbluez_enable_timestamps(int socket) {
    int on = 1;
    return checked(setsockopt(socket, level_hci, option_timestamp, &on, sizeof on));
}

int cbluez_set_receive_buffer(int socket, int bytes) {
    if (setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) == 0) return 0;
    return checked(setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes));
}

int cbluez_get_dropped(int socket, uint32_t *count) {
    uint32_t numbers[meminfo_count] = {0};
    socklen_t length = sizeof numbers;
    int result = checked(getsockopt(socket, SOL_SOCKET, option_meminfo, numbers, &length));
    *count = numbers[meminfo_dropped];
    return result;
}

// The kernel writes its own struct timeval, two longs, which can differ from the C library's.
static int64_t timestamp(const struct cmsghdr *message) {
    const unsigned char *data = CMSG_DATA(message);
    if (message->cmsg_len == CMSG_LEN(16)) {
        int64_t parts[2];
        memcpy(parts, data, sizeof parts);
        return parts[0] * 1000000000 + parts[1] * 1000;
    }
    if (message->cmsg_len == CMSG_LEN(8)) {
        int32_t parts[2];
        memcpy(parts, data, sizeof parts);
        return parts[0] * INT64_C(1000000000) + parts[1] * 1000;
    }
    return -1;
}

ptrdiff_t cbluez_receive(int socket, uint8_t *buffer, size_t capacity, int64_t *nanoseconds) {
    union {
        struct cmsghdr alignment;
        unsigned char bytes[128];
    } control;
    struct iovec part = {buffer, capacity};
    struct msghdr header = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t length;
    *nanoseconds = -1;
    do length = recvmsg(socket, &header, MSG_DONTWAIT);
    while (length < 0 && errno == EINTR);
    if (length < 0) return -errno;
    for (struct cmsghdr *message = CMSG_FIRSTHDR(&header); message; message = CMSG_NXTHDR(&header, message))
        if (message->cmsg_level == level_hci && message->cmsg_type == message_timestamp)
            *nanoseconds = timestamp(message);
    return length;
}

int cbluez_send(int socket, const uint8_t *bytes, size_t count) {
    ssize_t sent;
    do sent = send(socket, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

int cbluez_list_devices(int socket, uint16_t ids[CBLUEZ_MAXIMUM_DEVICES]) {
    struct device_list list = {.count = CBLUEZ_MAXIMUM_DEVICES};
    int result = checked(ioctl(socket, DEVICE_LIST, &list));
    if (result < 0) return result;
    int count = list.count < CBLUEZ_MAXIMUM_DEVICES ? list.count : CBLUEZ_MAXIMUM_DEVICES;
    for (int index = 0; index < count; index++) ids[index] = list.devices[index].id;
    return count;
}

int cbluez_describe_device(int socket, uint16_t id, struct cbluez_device *device) {
    struct device_info info = {.id = id};
    int result = checked(ioctl(socket, DEVICE_INFO, &info));
    if (result < 0) return result;
    device->id = info.id;
    memcpy(device->address, info.address, sizeof device->address);
    device->is_powered = (info.flags & flag_up) != 0;
    device->is_primary = (info.type & type_mask) == 0;
    return 0;
}

int cbluez_power_up(int socket, uint16_t id) { return checked(ioctl(socket, DEVICE_UP, (unsigned long)id)); }

int cbluez_power_down(int socket, uint16_t id) { return checked(ioctl(socket, DEVICE_DOWN, (unsigned long)id)); }

int cbluez_open_rfkill(void) { return checked(open("/dev/rfkill", O_RDONLY | O_CLOEXEC | O_NONBLOCK)); }

int cbluez_open_alarm(void) { return checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void cbluez_raise_alarm(int alarm) {
    uint64_t one = 1;
    // The write cannot fail, because the counter is far from its maximum.
    if (alarm >= 0 && write(alarm, &one, sizeof one) < 0) return;
}

int cbluez_wait(int descriptor, int alarm, int milliseconds) {
    struct pollfd watched[2] = {{descriptor, POLLIN, 0}, {alarm, POLLIN, 0}};
    int count;
    do {
        count = poll(watched, 2, milliseconds);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return -errno;
    return watched[0].revents & POLLNVAL ? -EBADF : 0;
}

void cbluez_close(int descriptor) {
    if (descriptor >= 0) close(descriptor);
}
