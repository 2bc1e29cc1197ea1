/// Which adapters the kernel's radio switches (rfkill) block.
///
/// Source: Linux, include/uapi/linux/rfkill.h, struct rfkill_event.
package struct RadioSwitchTable: Sendable, Equatable {
    /// Bytes of an event.
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

    /// Begins without switches.
    package init() {}

    /// The adapters that are blocked.
    package var blocked: Set<UInt16> { Set(switches.values.lazy.filter(\.isBlocked).map(\.adapter)) }

    /// Takes in an event.
    ///
    /// - Parameter adapterOf: the number of the adapter that a switch belongs to; nil if it is none.
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
