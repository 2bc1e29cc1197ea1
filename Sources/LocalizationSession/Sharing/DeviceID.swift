/// The name of a device among those that share their positions, such as `forklift-7`.
///
/// 1 to 64 Unicode scalars, without `/`, `+` and `#`, which separate and stand for names in MQTT topics, without control
/// characters, and without a `$` in front, which brokers keep for themselves.
public struct DeviceID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name as it is written.
    public let rawValue: String

    /// Takes a name; nil if it is none. `init(_:)` tells why.
    public init?(rawValue: String) {
        guard SharingNameError(of: rawValue) == nil else { return nil }
        self.rawValue = rawValue
    }

    /// Takes a name.
    ///
    /// - Throws: `SharingNameError` if it is none.
    public init(_ name: String) throws(SharingNameError) {
        if let error = SharingNameError(of: name) { throw error }
        rawValue = name
    }

    public var description: String { rawValue }

    public static func < (left: DeviceID, right: DeviceID) -> Bool { left.rawValue < right.rawValue }
}
