// The kernel's Bluetooth sockets for Swift: definitions that its headers do not export, and calls that Swift cannot
// make.
//
// On Debian, only libbluetooth contains the kernel's Bluetooth interface, and its headers are under the GPL. Swift
// imports neither variadic calls (ioctl) nor the macros that iterate over control messages. Therefore this header
// declares the interface independently. Its functions contain no policy, allocate nothing, keep no state and never
// block, except for cbluez_power_up, which waits for the adapter, and cbluez_wait. Every call returns a negative error
// number (-errno) on failure.
//
// Source of constants and layouts: Linux, include/net/bluetooth/{bluetooth,hci,hci_sock}.h, unchanged since 2.6.
#ifndef CBLUEZ_H
#define CBLUEZ_H

#include <stddef.h>
#include <stdint.h>

// Represents "no adapter" when a socket is bound: such a socket receives the events of all adapters.
#define CBLUEZ_NO_DEVICE 0xFFFF
// The maximum number of adapters that this library lists.
#define CBLUEZ_MAXIMUM_DEVICES 16

// The state of an adapter, as the kernel reports it.
struct cbluez_device {
    uint16_t id;         // the number in "hci0"
    uint8_t address[6];  // the last pair first; zeros if the adapter has none, or has not reported it yet
    uint8_t is_powered;  // 1 if it is up
    uint8_t is_primary;  // 0 for an alternate controller (AMP), which has no LE radio
};

// Opens a raw, nonblocking HCI socket that is closed on exec. Returns the socket.
int cbluez_open(void);

// Binds a socket to the raw channel of an adapter, or to CBLUEZ_NO_DEVICE.
int cbluez_bind(int socket, uint16_t device);

// Requests packets of the types in `types` and, for events, those in `events`: bit n is number n modulo 32 or 64.
// Without CAP_NET_RAW, the kernel silently clears bits: see cbluez_get_filter.
int cbluez_set_filter(int socket, uint32_t types, uint64_t events);

// Gets the filter that the kernel uses.
int cbluez_get_filter(int socket, uint32_t *types, uint64_t *events);

// Enables time stamps: each packet then contains the time at which the kernel received it.
int cbluez_enable_timestamps(int socket);

// Sets the size in bytes of the buffer for received packets, beyond the system's limit where permitted.
int cbluez_set_receive_buffer(int socket, int bytes);

// Gets the number of packets that the kernel has dropped since the socket was opened because the buffer was full.
int cbluez_get_dropped(int socket, uint32_t *count);

// Receives a packet, its type in the first byte. Returns its length in bytes, or -EAGAIN if no packet is available.
// `nanoseconds` becomes the time of reception, from CLOCK_REALTIME; -1 if the kernel did not report it.
ptrdiff_t cbluez_receive(int socket, uint8_t *buffer, size_t capacity, int64_t *nanoseconds);

// Sends a packet, its type in the first byte: either completely or not at all.
int cbluez_send(int socket, const uint8_t *bytes, size_t count);

// Lists the numbers of the adapters. Returns the number of adapters, at most CBLUEZ_MAXIMUM_DEVICES.
int cbluez_list_devices(int socket, uint16_t ids[CBLUEZ_MAXIMUM_DEVICES]);

// Describes an adapter. Returns -ENODEV if it does not exist.
int cbluez_describe_device(int socket, uint16_t id, struct cbluez_device *device);

// Powers an adapter on, and waits until it is on. Returns -EALREADY if it was on, -ERFKILL if a radio switch blocks
// it, and -EPERM without CAP_NET_ADMIN.
int cbluez_power_up(int socket, uint16_t id);

// Powers an adapter off.
int cbluez_power_down(int socket, uint16_t id);

// Opens an alarm, a descriptor that ends a wait once it is raised. Returns the descriptor.
int cbluez_open_alarm(void);

// Raises an alarm permanently.
void cbluez_raise_alarm(int alarm);

// Waits until a descriptor is readable or closed, an alarm is raised, or the given milliseconds have passed. A negative
// alarm means none, and negative milliseconds mean no limit. Returns 0, or a negative error number.
int cbluez_wait(int descriptor, int alarm, int milliseconds);

// Closes a descriptor, unless it is negative.
void cbluez_close(int descriptor);

// Opens the kernel's list of radio switches, /dev/rfkill, for nonblocking reads. Returns the descriptor.
int cbluez_open_rfkill(void);

#endif
