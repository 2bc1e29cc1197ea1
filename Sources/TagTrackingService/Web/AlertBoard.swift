import LiveMap
import TagTracking
import TextFormats

/// The rules, the alerts that last, and the latest events, for the page and the interface.
struct AlertBoard: Sendable {
    /// The maximum number of latest events.
    static let mostEvents = 100
    /// The maximum number of alerts that the interface lists.
    static let mostActive = 1_000

    private(set) var rules = AlertRules()
    /// The events that raised the alerts that last, the oldest first.
    private(set) var active: [AlertEvent] = []
    /// The latest events, the oldest first.
    private(set) var latest: [AlertEvent] = []

    /// Adds an event.
    mutating func add(_ event: AlertEvent) {
        switch event.state {
        case .raised:
            // The status after a change of the rules can have the alert already.
            if !active.contains(where: { $0.alert == event.alert }) { active.append(event) }
        case .repeated: break
        case .cleared: active.removeAll { $0.alert == event.alert }
        }
        latest.append(event)
        if latest.count > Self.mostEvents { latest.removeFirst() }
    }

    /// Applies the alerts at the start, and other rules.
    mutating func use(_ status: AlertStatus) {
        (rules, active) = (status.rules, status.active)
        if !status.latest.isEmpty { latest = status.latest.suffix(Self.mostEvents) }
    }

    /// The content of the interface.
    var json: [UInt8] {
        JSONWriter.object { json in
            json.add("rules", objects: rules.list) { rule, json in
                json.add("name", rule.name)
                json.add("when", rule.condition.rawValue)
                json.add("area", rule.area?.name)
            }
            json.add("activeCount", active.count)
            json.add("active", objects: active.suffix(Self.mostActive)) { $0.writeMembers(to: &$1) }
            json.add("latest", objects: latest.reversed()) { $0.writeMembers(to: &$1) }
        }
    }
}

extension TagRoutes {
    /// Returns the alerts.
    func alertList() async throws(HTTPProblem) -> HTTPResponse {
        guard hasAlerts else { throw HTTPProblem(404, "This process has no alerts; 'track --alerts FILE' does.") }
        return Self.json(await board.alerts.json)
    }
}
