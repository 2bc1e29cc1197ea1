/// The number of a plugin at its host, in the order of being added, from 1 on; none is given twice.
public struct PluginID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public var description: String { String(rawValue) }
    public static func < (left: PluginID, right: PluginID) -> Bool { left.rawValue < right.rawValue }
}

/// What a plugin tells the others.
public struct PluginData: Sendable {
    /// What is to be done with it; below 1 stand those that are reserved for `PluginHandshake`.
    public struct Operation: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public init(integerLiteral value: Int) { rawValue = value }

        /// A plugin has come, and asks who is there.
        public static let initialize = Operation(rawValue: 0)
        /// A plugin answers the one that has come.
        public static let acknowledge = Operation(rawValue: -1)
        /// A plugin is about to go.
        public static let stop = Operation(rawValue: -2)
    }

    /// Whose data it is, by which receivers find what is for them: begin it with the name of the project.
    public var tag: String
    /// What is to be done with it.
    public var operation: Operation
    /// The plugin that sent it; nil if it was the program itself.
    public var sender: PluginID?
    /// What is told; see `value(as:)`.
    public var payload: (any Sendable)?

    /// Creates what is told.
    public init(
        tag: String, operation: Operation = 1, sender: PluginID? = nil, payload: (any Sendable)? = nil
    ) {
        self.tag = tag
        self.operation = operation
        self.sender = sender
        self.payload = payload
    }

    /// The payload, if it is of that type; nil otherwise.
    public func value<Value: Sendable>(as type: Value.Type = Value.self) -> Value? { payload as? Value }
}
