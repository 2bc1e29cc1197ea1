/// The format of the messages of some topics.
public struct TopicFormat: Hashable, Sendable {
    /// A filter of MQTT: `+` stands for one level, and `#` at the end for all following ones.
    public var filter: String
    /// The format.
    public var format: GatewayFormat

    /// Creates a rule.
    public init(filter: String, format: GatewayFormat) {
        self.filter = filter
        self.format = format
    }

    /// Returns whether the filter matches a topic.
    ///
    /// Source: *MQTT Version 3.1.1*, OASIS 2014, 4.7.
    package func matches(_ topic: String) -> Bool {
        let slash = UInt8(ascii: "/")
        var levels = topic.utf8.split(separator: slash, omittingEmptySubsequences: false)[...]
        for wanted in filter.utf8.split(separator: slash, omittingEmptySubsequences: false) {
            if wanted.elementsEqual("#".utf8) { return true }
            guard let level = levels.popFirst(), wanted.elementsEqual("+".utf8) || wanted.elementsEqual(level) else {
                return false
            }
        }
        return levels.isEmpty
    }
}
