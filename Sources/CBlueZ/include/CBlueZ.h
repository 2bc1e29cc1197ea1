// The kernel's Bluetooth sockets for Swift: what its headers do not export, and calls that Swift cannot make.
//
// Debian ships the kernel's Bluetooth interface with libbluetooth only, whose headers are under the GPL; and Swift
// imports neither variadic calls (ioctl) nor the macros that walk through control messages. So this is the interface
// in its own words. Nothing here decides, allocates, blocks or keeps anything, but for cbluez_power_up, which waits for
// the adapter, and cbluez_wait. Every call returns a negative error number (-errno) when it failed.
//
// Source of constants and layouts: Linux, include/net/bluetooth/{bluetooth,hci,hci_sock}.h, unchanged since 2.6.
#ifndef CBLUEZ_H
#define CBLUEZ_H

#include <stddef.h>
#include <stdint.h>

// Stands for "no adapter" when a socket is bound: such a socket hears what becomes of all of them.
#define CBLUEZ_NO_DEVICE 0xFFFF
// How many adapters the kernel knows at most, as far as this library asks.
#define CBLUEZ_MAXIMUM_DEVICES 16

// What the kernel says of an adapter.
struct cbluez_device {
    uint16_t id;         // the number in "hci0"
    uint8_t address[6];  // the last pair first; zeros as long as the adapter has not told it, or if it has none
    uint8_t is_powered;  // 1 if it is up
    uint8_t is_primary;  // 0 of an alternate controller (AMP), which has no LE radio
};

// Opens a raw HCI socket that never blocks and is closed on exec. Returns it.
int cbluez_open(void);

// Binds a socket to the raw channel of an adapter, or to CBLUEZ_NO_DEVICE.
int cbluez_bind(int socket, uint16_t device);

// Asks for packets of the types in `types` and, of events, those in `events`: bit n stands for number n modulo 32 or 64.
// The kernel leaves bits out without a word where the process lacks CAP_NET_RAW: see cbluez_get_filter.
int cbluez_set_filter(int socket, uint32_t types, uint64_t events);

// Says which filter the kernel uses.
int cbluez_get_filter(int socket, uint32_t *types, uint64_t *events);

// Has each packet come with the time at which the kernel received it.
int cbluez_enable_timestamps(int socket);

// Makes room for so many bytes of packets that wait to be received, beyond the system's limit where permitted.
int cbluez_set_receive_buffer(int socket, int bytes);

// Says how many packets the kernel has thrown away since the socket was opened, for want of room.
int cbluez_get_dropped(int socket, uint32_t *count);

// Receives a packet, its type in the first byte. Returns its length in bytes, -EAGAIN if none waits.
// `nanoseconds` becomes the time of reception, from CLOCK_REALTIME; -1 if the kernel did not tell.
ptrdiff_t cbluez_receive(int socket, uint8_t *buffer, size_t capacity, int64_t *nanoseconds);

// Sends a packet, its type in the first byte: all of it or nothing.
int cbluez_send(int socket, const uint8_t *bytes, size_t count);

// Lists the numbers of the adapters. Returns how many there are, at most CBLUEZ_MAXIMUM_DEVICES.
int cbluez_list_devices(int socket, uint16_t ids[CBLUEZ_MAXIMUM_DEVICES]);

// Describes an adapter. -ENODEV if it is not there.
int cbluez_describe_device(int socket, uint16_t id, struct cbluez_device *device);

// Powers an adapter on, and waits until it is. -EALREADY if it was, -ERFKILL if a radio switch blocks it,
// -EPERM without CAP_NET_ADMIN.
int cbluez_power_up(int socket, uint16_t id);

// Powers an adapter off.
int cbluez_power_down(int socket, uint16_t id);

// Opens a descriptor that ends a wait once its alarm is raised. Returns it.
int cbluez_open_alarm(void);

// Raises an alarm, for good.
void cbluez_raise_alarm(int alarm);

// Waits until a descriptor has something to be read or is dead, an alarm is raised, or so many milliseconds have passed;
// a negative alarm is none, and negative milliseconds are no limit. Returns 0, or a negative error number.
int cbluez_wait(int descriptor, int alarm, int milliseconds);

// Closes a descriptor, unless it is negative.
void cbluez_close(int descriptor);

// Opens the kernel's list of radio switches, /dev/rfkill, to be read without blocking. Returns it.
int cbluez_open_rfkill(void);

#endif
