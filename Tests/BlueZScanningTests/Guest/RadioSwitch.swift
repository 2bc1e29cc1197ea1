import Glibc

/// The kernel's radio switches, as the airplane mode of a desktop uses them.
enum RadioSwitch {
    struct Failure: Error { var number: Int32 }

    /// Blocks or releases all Bluetooth adapters.
    static func setBlocked(_ isBlocked: Bool) throws {
        let descriptor = open("/dev/rfkill", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(number: errno) }
        defer { close(descriptor) }
        // struct rfkill_event: no index, type Bluetooth, operation "change all", soft block, hard block.
        let event: [UInt8] = [0, 0, 0, 0, 2, 3, isBlocked ? 1 : 0, 0]
        guard write(descriptor, event, event.count) == event.count else { throw Failure(number: errno) }
    }
}
