/// The adapters that the kernel's radio switches (rfkill) block.
///
/// Source: Linux, include/uapi/linux/rfkill.h, struct rfkill_event.
package struct RadioSwitchTable: Sendable, Equatable {
    /// The length of an event in bytes.
    package static let eventLength = 8

    private struct Switch: Equatable {
        var adapter: UInt16
        var isBlocked: Bool
    }

    private enum Layout {
        static let bluetooth: UInt8 = 2
        static let added: UInt8 = 0
        static let removed: UInt8 = 1
        static let changed: UInt8 = 2
    }

    private var switches: [UInt32: Switch] = [:]

    /// Creates a table without switches.
    package init() {}

    /// The numbers of the blocked adapters.
    package var blocked: Set<UInt16> { Set(switches.values.lazy.filter(\.isBlocked).map(\.adapter)) }

    /// Applies an event.
    ///
    /// - Parameter adapterOf: Returns the number of the adapter that a switch belongs to; nil if it belongs to none.
    package mutating func apply(_ event: Span<UInt8>, adapterOf: (UInt32) -> UInt16?) {
        guard event.count >= Self.eventLength, event[4] == Layout.bluetooth else { return }
        let index = (0..<4).reduce(UInt32(0)) { $0 | UInt32(event[$1]) << UInt32(8 * $1) }
        switch event[5] {
        case Layout.added, Layout.changed:
            guard let adapter = switches[index]?.adapter ?? adapterOf(index) else { return }
            switches[index] = Switch(adapter: adapter, isBlocked: event[6] != 0 || event[7] != 0)
        case Layout.removed: switches[index] = nil
        default: return
        }
    }
}
