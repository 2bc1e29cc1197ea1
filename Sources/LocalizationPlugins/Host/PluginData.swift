/// The number of a plugin at its host, in the order of addition, from 1 on. The host never reuses a number.
public struct PluginID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public var description: String { String(rawValue) }
    public static func < (left: PluginID, right: PluginID) -> Bool { left.rawValue < right.rawValue }
}

/// Data that a plugin broadcasts to the others.
public struct PluginData: Sendable {
    /// The operation on the data. Values below 1 are reserved for `PluginHandshake`.
    public struct Operation: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public init(integerLiteral value: Int) { rawValue = value }

        /// A new plugin asks which other plugins there are.
        public static let initialize = Operation(rawValue: 0)
        /// A plugin answers the new one.
        public static let acknowledge = Operation(rawValue: -1)
        /// A plugin is about to stop.
        public static let stop = Operation(rawValue: -2)
    }

    /// The tag by which receivers recognize their data; begin it with the name of the project.
    public var tag: String
    /// The operation on the data.
    public var operation: Operation
    /// The plugin that sent the data; nil if the program did.
    public var sender: PluginID?
    /// The content; see `value(as:)`.
    public var payload: (any Sendable)?

    /// Creates data.
    public init(
        tag: String, operation: Operation = 1, sender: PluginID? = nil, payload: (any Sendable)? = nil
    ) {
        self.tag = tag
        self.operation = operation
        self.sender = sender
        self.payload = payload
    }

    /// Returns the payload if it has a type; nil otherwise.
    public func value<Value: Sendable>(as type: Value.Type = Value.self) -> Value? { payload as? Value }
}
