import FoundationEssentials
import IndoorVocabulary
import LocalizationSession

/// The check of received messages against the list of trusted devices.
///
/// `sequence` of a signed payload is the time of signing in microseconds since 1970, and increases with each message. A
/// message that doesn't exceed the last one of its topic, or whose time differs too much from the receiver's clock, is a
/// copy of an earlier message.
struct SignatureCheck: Sendable {
    /// The largest difference between the time of signing and the receiver's clock, in seconds.
    static let window = 300.0
    /// The largest difference in seconds for retained presences, which devices publish again after
    /// `SharingMachine.refreshInterval`.
    static let presenceWindow = 900.0

    /// The result for a message.
    enum Verdict: Hashable, Sendable {
        /// The message is accepted. `isVerified` states whether it has a verified signature.
        case accepted(isVerified: Bool)
        /// The message is rejected. `isFirst` states whether it is the first rejected message of its device.
        case rejected(reason: String, isFirst: Bool)
    }

    private struct Stamp: Decodable { var sequence: Int? }

    let trust: SharingTrust
    private var sequences: [String: Int] = [:]
    private var reported: Set<DeviceID> = []
    private var hasReportedUnlisted = false
    /// The number of rejected messages.
    private(set) var rejectedCount = 0

    init(_ trust: SharingTrust) { self.trust = trust }

    /// Checks a message of another device.
    ///
    /// - Parameter date: The receiver's time in seconds since 1970 (UTC).
    mutating func check(
        _ message: MQTTMessage, of device: DeviceID, isPresence: Bool, at date: Double
    ) -> Verdict {
        guard let key = trust.keys[device] else {
            guard trust.policy == .require else { return .accepted(isVerified: false) }
            rejectedCount += 1
            defer { hasReportedUnlisted = true }
            return .rejected(reason: "the list of trusted devices has no key of it", isFirst: !hasReportedUnlisted)
        }
        // An empty presence can't be signed: the broker publishes it when the device disappears.
        if isPresence, message.payload.isEmpty { return .accepted(isVerified: false) }
        if let reason = problem(message, key, isPresence, date) {
            rejectedCount += 1
            return .rejected(reason: reason, isFirst: reported.insert(device).inserted)
        }
        return .accepted(isVerified: true)
    }

    private mutating func problem(
        _ message: MQTTMessage, _ key: SharingPublicKey, _ isPresence: Bool, _ date: Double
    ) -> String? {
        guard message.payload.count <= SharingPayload.longest else { return "the payload is too long" }
        switch SignedPayload.verify(message.payload, topic: message.topic, by: key) {
        case .unsigned: return "it has no signature"
        case .wrong: return "the signature is not that of its key"
        case .valid: break
        }
        guard let sequence = try? JSONDecoder().decode(Stamp.self, from: Data(message.payload)).sequence else {
            return "it has no 'sequence'"
        }
        let window = isPresence ? Self.presenceWindow : Self.window
        guard abs(Double(sequence) / 1e6 - date) <= window else {
            return "it was signed more than \(Int(window)) s before or after the time of this device's clock"
        }
        // The broker sends a retained presence again after each connection.
        if let last = sequences[message.topic], isPresence ? sequence < last : sequence <= last {
            return "it is a copy of an earlier message"
        }
        sequences[message.topic] = sequence
        return nil
    }
}
