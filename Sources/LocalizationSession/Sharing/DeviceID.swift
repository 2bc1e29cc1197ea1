/// The name of a device that shares its position, such as `forklift-7`.
///
/// A name has 1 to 64 Unicode scalars. It must not contain control characters or `/`, `+` and `#`, which are separators
/// and wildcards in MQTT topics, and must not begin with `$`, which is reserved for brokers.
public struct DeviceID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name.
    public let rawValue: String

    /// Creates an ID from a name; nil if the name is invalid. `init(_:)` throws the reason.
    public init?(rawValue: String) {
        guard SharingNameError(of: rawValue) == nil else { return nil }
        self.rawValue = rawValue
    }

    /// Creates an ID from a name.
    ///
    /// - Throws: `SharingNameError` if the name is invalid.
    public init(_ name: String) throws(SharingNameError) {
        if let error = SharingNameError(of: name) { throw error }
        rawValue = name
    }

    public var description: String { rawValue }

    public static func < (left: DeviceID, right: DeviceID) -> Bool { left.rawValue < right.rawValue }
}
