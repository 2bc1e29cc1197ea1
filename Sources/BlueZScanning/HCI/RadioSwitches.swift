import CBlueZ
import Glibc

/// The kernel's radio switches, read as they change.
struct RadioSwitches: ~Copyable {
    let descriptor: Int32
    private(set) var table = RadioSwitchTable()

    /// Opens them; nil where they cannot be read, in which case blocked adapters are tried now and then.
    init?() {
        descriptor = cbluez_open_rfkill()
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Takes in what has changed.
    mutating func update() {
        var event = [UInt8](repeating: 0, count: RadioSwitchTable.eventLength)
        while read(descriptor, &event, event.count) == event.count {
            table.apply(event.span, adapterOf: Self.adapter(ofSwitch:))
        }
    }

    /// The number in the "hci0" that the system calls a switch by.
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
