import CBlueZ
import Glibc

/// The kernel's radio switches, read when they change.
struct RadioSwitches: ~Copyable {
    let descriptor: Int32
    private(set) var table = RadioSwitchTable()

    /// Opens the switches; returns nil if they aren't readable. The scan then retries blocked adapters periodically.
    init?() {
        descriptor = cbluez_open_rfkill()
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Applies the changes since the last call.
    mutating func update() {
        var event = [UInt8](repeating: 0, count: RadioSwitchTable.eventLength)
        while read(descriptor, &event, event.count) == event.count {
            table.apply(event.span, adapterOf: Self.adapter(ofSwitch:))
        }
    }

    /// Returns the adapter number in a switch's name, such as "hci0".
    private static func adapter(ofSwitch index: UInt32) -> UInt16? {
        guard let file = fopen("/sys/class/rfkill/rfkill\(index)/name", "re") else { return nil }
        defer { fclose(file) }
        var id: UInt16?
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { line in
            guard let start = line.baseAddress, fgets(start, Int32(line.count), file) != nil else { return }
            id = number(inName: String(cString: start))
        }
        return id
    }

    private static func number(inName line: String) -> UInt16? {
        guard line.hasPrefix("hci") else { return nil }
        return UInt16(line.dropFirst(3).prefix { $0.isNumber })
    }
}
