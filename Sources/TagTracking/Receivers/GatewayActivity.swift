import IndoorVocabulary

/// The messages that gateways have sent: the latest one of each receiver, and the names that the venue doesn't have.
///
/// A gateway that never sent anything has no health, and neither has one whose name is misspelt. This type
/// distinguishes the two cases.
package struct GatewayActivity: Hashable, Sendable {
    /// A gateway whose name the venue doesn't have.
    package struct UnknownGateway: Hashable, Sendable {
        /// The name in its messages.
        package var name: String
        /// The time of its latest message.
        package var latest: Instant
        /// The receiver that is probably meant; nil if no receiver has a similar name.
        package var nearest: String?

        /// Creates a gateway without a receiver.
        package init(name: String, latest: Instant, nearest: String? = nil) {
            self.name = name
            self.latest = latest
            self.nearest = nearest
        }

        /// The problem in words, such as: unknown gateway "wating": is it "waiting"?
        package var text: String {
            "unknown gateway \"\(name)\"" + (nearest.map { ": is it \"\($0)\"?" } ?? "")
        }
    }

    /// The limit on the number of unknown gateways; those that sent most recently are kept.
    package static let mostUnknownGateways = 100

    /// The time of the latest message of each receiver that has sent one, by its name in the venue.
    package var latest: [String: Instant] = [:]
    /// The gateways without a receiver, in the order of their names.
    package var unknownGateways: [UnknownGateway] = []

    /// Creates the activity of gateways that haven't sent anything.
    package init() {}
}

/// A cache of the receivers whose names are similar to unknown names of gateways, because the search takes time in a
/// large venue.
package struct NearestReceivers: Sendable {
    /// The limit on the number of names, and on the number of searches of a call, because a foreign device can send any
    /// name.
    private static let limit = 4096
    private static let searches = 5

    private var found: [String: String?] = [:]

    /// Creates an empty list.
    package init() {}

    /// Returns the activity of gateways.
    ///
    /// - Parameters:
    ///   - senders: the names in messages, each with the time of its latest message.
    ///   - monitor: the receivers of the venue, with the times of the messages before the start.
    package mutating func activity(
        of senders: some Sequence<(name: String, latest: Instant)>, _ monitor: ReceiverMonitor
    ) -> GatewayActivity {
        var activity = GatewayActivity()
        activity.latest = monitor.latestMessages
        var unknownGateways: [GatewayActivity.UnknownGateway] = []
        for sender in senders {
            if let index = monitor.directory.index(of: sender.name) {
                let id = monitor.receivers[index].id
                activity.latest[id] = max(activity.latest[id] ?? sender.latest, sender.latest)
            } else {
                unknownGateways.append(GatewayActivity.UnknownGateway(name: sender.name, latest: sender.latest))
            }
        }
        unknownGateways.sort { ($1.latest, $0.name) < ($0.latest, $1.name) }
        activity.unknownGateways = Array(unknownGateways.prefix(GatewayActivity.mostUnknownGateways))
        var searches = 0
        for index in activity.unknownGateways.indices {
            let name = activity.unknownGateways[index].name
            if found[name] == nil, searches < Self.searches {
                searches += 1
                if found.count >= Self.limit { found = [:] }
                found[name] = .some(monitor.directory.nearest(to: name))
            }
            activity.unknownGateways[index].nearest = found[name] ?? nil
        }
        activity.unknownGateways.sort { $0.name < $1.name }
        return activity
    }
}
