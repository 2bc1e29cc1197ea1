/// A technology that measures the distance between two devices.
///
/// The package has an error model for each of the technologies below, and a common model for all others.
public struct RangeTechnology: RawRepresentable, Hashable, Sendable {
    /// The name, as stored in recordings.
    public var rawValue: String

    /// Creates a technology from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Two-way ranging by ultra-wideband pulses, such as IEEE 802.15.4z.
    public static let uwb = RangeTechnology(rawValue: "uwb")
    /// Fine timing measurement of IEEE 802.11, also known as Wi-Fi round-trip time.
    public static let wifi = RangeTechnology(rawValue: "wifi")
    /// Bluetooth Channel Sounding, or another phase-based method with Bluetooth LE.
    public static let ble = RangeTechnology(rawValue: "ble")
}
