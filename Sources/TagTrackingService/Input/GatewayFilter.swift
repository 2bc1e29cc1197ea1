import TagTracking

/// A topic filter for the messages of gateways.
package struct GatewayFilter: Hashable, Sendable {
    /// The MQTT topic filter, such as `espresense/devices/#`.
    package var filter: String
    /// The format of the messages; nil detects it from topic and payload.
    package var format: GatewayFormat?

    /// Creates a filter from its parts without checking them.
    package init(_ filter: String, _ format: GatewayFormat? = nil) {
        self.filter = filter
        self.format = format
    }

    /// Creates a filter from its text, `FILTER` or `FILTER=FORMAT`.
    ///
    /// - Throws: ``GatewayFilterError`` if the filter is invalid or the format is unknown.
    package init(text: String) throws(GatewayFilterError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        filter = String(parts[0])
        if let problem = Self.problem(of: filter) { throw GatewayFilterError(text: text, reason: problem) }
        guard parts.count == 2 else { return }
        guard let format = GatewayFormat(rawValue: String(parts[1])) else {
            let known = GatewayFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw GatewayFilterError(text: text, reason: "the format '\(parts[1])' is unknown; give one of \(known)")
        }
        self.format = format
    }

    /// The topics under which the supported gateways publish with their default settings.
    package static let standard = [
        GatewayFilter("espresense/devices/+/+", .espresense),
        // OpenMQTTGateway and Theengs Gateway.
        GatewayFilter("home/+/BTtoMQTT/+"),
        GatewayFilter("ruuvi/+/+", .ruuvi),
        GatewayFilter("+/events/rpc", .shelly),
        GatewayFilter("tele/+/BLE", .tasmota),
        GatewayFilter("tele/+/SENSOR", .tasmota),
        GatewayFilter("room-assistant/entity/#", .roomAssistant),
        GatewayFilter("+/gateways/+/advertisements", .indoorloc),
    ]

    /// Returns the reason that a topic filter is invalid; nil if it is valid.
    private static func problem(of filter: String) -> String? {
        guard !filter.isEmpty, filter.utf8.count <= 65_535 else { return "the filter must have 1 to 65,535 bytes" }
        guard !filter.unicodeScalars.contains("\0") else { return "the filter contains a zero character" }
        let parts = filter.split(separator: "/", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() where part.contains("#") || part.contains("+") {
            guard part.count == 1 else { return "+ and # must be whole levels, as in home/+/#" }
            guard part == "+" || index == parts.count - 1 else { return "# must be the last level" }
        }
        return nil
    }
}

extension [GatewayFilter] {
    /// The formats of the topics whose format is given.
    package var formats: [TopicFormat] {
        compactMap { filter in filter.format.map { TopicFormat(filter: filter.filter, format: $0) } }
    }
}

/// The reason that the text of a topic filter is invalid.
package struct GatewayFilterError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text.
    package var text: String
    /// The reason and the remedy.
    package var reason: String

    package var description: String { "'\(text)' is not a valid topic filter: \(reason)" }
}
