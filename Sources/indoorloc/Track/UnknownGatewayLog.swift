import TagTracking

/// The lines of a log about gateways whose names the venue doesn't have: one for each name.
package struct UnknownGatewayLog: Sendable {
    /// The maximum number of names, so that a foreign device can't fill the log.
    private static let mostNames = 20

    private var names: Set<String> = []

    /// Creates a log that has reported no gateway.
    package init() {}

    /// Returns the lines about the gateways that weren't reported before.
    package mutating func lines(about gateways: [GatewayActivity.UnknownGateway]) -> [String] {
        var lines: [String] = []
        for gateway in gateways where names.count < Self.mostNames && names.insert(gateway.name).inserted {
            let remedy =
                gateway.nearest == nil
                ? ": add it to the venue, or to the aliases of a receiver"
                : " Correct its name on the gateway, or add it to the aliases of the receiver"
            lines.append(gateway.text + remedy)
        }
        return lines
    }
}
