import Glibc

/// The changes to a device's attributes for its buffer, with the former values.
struct BufferSetup {
    static let timestamp = "in_timestamp"

    private let device: SysfsFolder
    private(set) var changes: [(name: String, before: String)] = []

    init(_ device: SysfsFolder) { self.device = device }

    /// Sets an attribute, unless it already has the value.
    mutating func change(_ name: String, to text: String) throws(IIOError) {
        let before = try device.text(name)
        guard before != text else { return }
        try device.write(text, to: name)
        changes.append((name, before))
    }

    func undo() { Self.undo(changes, of: device) }

    /// Restores the changed attributes in reverse order. Ignores errors, because the device may be gone.
    static func undo(_ changes: [(name: String, before: String)], of device: SysfsFolder) {
        for change in changes.reversed() { try? device.write(change.before, to: change.name) }
    }

    /// Selects the device's own trigger for the buffer, if no trigger is selected.
    ///
    /// - Returns: True if a trigger fills the buffer. A device without selectable triggers fills its buffer itself.
    mutating func chooseTrigger(of name: String, among devices: SysfsFolder) throws(IIOError) -> Bool {
        guard device.has("trigger/current_trigger") else { return true }
        guard try device.text("trigger/current_trigger").isEmpty else { return true }
        let number = name.dropFirst("iio:device".count)
        let own = try device.optionalText("name").map { "\($0)-dev\(number)" }
        for folder in devices.names where folder.hasPrefix("trigger") {
            guard let trigger = try devices.folder(folder).optionalText("name"), trigger == own else { continue }
            // An empty line restores an empty attribute.
            try device.write(trigger, to: "trigger/current_trigger")
            changes.append(("trigger/current_trigger", "\n"))
            return true
        }
        return false
    }

    /// Enables these channels and the timestamp in the buffer, and disables all others.
    mutating func enable(_ channels: [String]) throws(IIOError) -> [IIOScanElement] {
        let scan = device.folder("scan_elements")
        var elements: [IIOScanElement] = []
        for name in scan.names where name.hasSuffix("_en") {
            let channel = String(name.dropLast("_en".count))
            let isWanted = channels.contains(channel) || channel == Self.timestamp
            try change("scan_elements/" + name, to: isWanted ? "1" : "0")
            guard isWanted else { continue }
            let type = try scan.text(channel + "_type")
            let index = try scan.number(channel + "_index")
            guard let index = Int(exactly: index),
                let element = IIOScanElement(channel: channel, index: index, type: type)
            else { throw .malformed(path: "\(scan.path)/\(channel)_type", text: type) }
            elements.append(element)
        }
        guard channels.allSatisfy({ channel in elements.contains { $0.channel == channel } }) else {
            throw .noDevice(folder: scan.path)
        }
        return elements
    }

    /// Sets the sampling frequency, if the device supports it. A device that refuses keeps its own.
    mutating func set(rate: Double) {
        let names = device.names.filter { $0.hasSuffix("sampling_frequency") }
        for name in names {
            let offered = (try? device.text(name + "_available"))?.split(separator: " ").compactMap { Double($0) } ?? []
            let chosen = offered.filter { $0 >= rate }.min() ?? offered.max() ?? rate
            // Compare as numbers, because the kernel writes 50 as 50.000000.
            guard let now = try? device.number(name), now != chosen else { continue }
            try? change(name, to: Self.text(chosen))
        }
    }

    private static func text(_ number: Double) -> String { Int(exactly: number).map(String.init) ?? "\(number)" }

    /// Selects the clock since boot for timestamps, if the device supports it.
    ///
    /// - Returns: The clock of the timestamps; nil if it is unknown.
    mutating func chooseClock() throws(IIOError) -> clockid_t? {
        guard device.has("current_timestamp_clock") else { return CLOCK_REALTIME }
        try? change("current_timestamp_clock", to: "boottime")
        switch try device.text("current_timestamp_clock") {
        case "boottime": return CLOCK_BOOTTIME
        case "monotonic": return CLOCK_MONOTONIC
        case "realtime": return CLOCK_REALTIME
        default: return nil
        }
    }
}
