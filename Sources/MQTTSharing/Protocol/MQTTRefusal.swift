import CMosquitto

/// The broker's reason for refusing a message.
public enum MQTTRefusal: Hashable, Sendable {
    /// The user may not write the topic.
    case notAuthorized
    /// The broker's limits for this client are reached.
    case quotaExceeded
    /// Any other reason, in the words of the standard.
    case other(String)

    /// Creates the reason of a code from 128. Source: *MQTT Version 5.0*, OASIS 2019, table 3-4.
    init(code: Int32) {
        switch UInt32(bitPattern: code) {
        case UInt32(MQTT_RC_NOT_AUTHORIZED.rawValue): self = .notAuthorized
        case UInt32(MQTT_RC_QUOTA_EXCEEDED.rawValue): self = .quotaExceeded
        default: self = .other(String(cString: mosquitto_reason_string(code)))
        }
    }

    /// The reason and the remedy.
    var explanation: String {
        switch self {
        case .notAuthorized: "not authorized: allow this user to write the topic in the broker's access list"
        case .quotaExceeded: "quota exceeded: raise the broker's limits for this client, or publish less often"
        case .other(let reason): "\(reason): see the broker's log"
        }
    }
}

/// The refusals of a connection that were reported: one for each pair of a reason and a first topic level, because a
/// broker that refuses the topic of one tag refuses the topics of all tags.
package struct ReportedRefusals: Sendable {
    private var reported: Set<String> = []

    /// Creates an empty list.
    package init() {}

    /// Returns whether a refusal is to be reported, and adds it.
    package mutating func isNew(_ topic: String, _ reason: MQTTRefusal) -> Bool {
        let level = topic.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        return reported.insert("\(reason.explanation) \(level)").inserted
    }
}
