/// An error of the log, the leases or the snapshots of a fleet.
package enum FleetStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process has written the key since the given revision, so that nothing was written.
    case conflict(key: String)
    /// The store gave no answer in time. A write may have taken effect, or may still take effect.
    case unavailable(reason: String)
    /// The value is larger than the store accepts, in bytes.
    case tooLarge(key: String, bytes: Int, limit: Int)
    /// A part of the store is missing or has other settings. The text names the part and the remedy.
    case misconfigured(reason: String)
    /// The store refuses the operation for this user.
    case notPermitted(reason: String)
    /// A stored value can't be read.
    case damaged(key: String, reason: String)

    package var description: String {
        switch self {
        case .conflict(let key): "\(key): another process has written it in the meantime"
        case .unavailable(let reason): "the log doesn't answer: \(reason)"
        case .tooLarge(let key, let bytes, let limit):
            "\(key): \(bytes) bytes are more than the limit of \(limit) bytes; "
                + "use more partitions, or the class light for more tags"
        case .misconfigured(let reason): reason
        case .notPermitted(let reason): "not permitted: \(reason); grant the user access to these subjects"
        case .damaged(let key, let reason): "\(key) is damaged: \(reason)"
        }
    }

    /// Whether a later attempt can succeed without a change by a person.
    package var isTransient: Bool {
        switch self {
        case .conflict, .unavailable: true
        case .tooLarge, .misconfigured, .notPermitted, .damaged: false
        }
    }
}
