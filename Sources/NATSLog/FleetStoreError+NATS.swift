import CNATS
import TagTracking

/// A failed call of libnats. The caller adds the key to get the error that it throws.
struct NATSFailure: Error {
    var status: natsStatus
    /// The error code of JetStream; 0 for none.
    var code: UInt32 = 0
    var text: String

    /// Describes a failure that libnats doesn't detect.
    init(_ status: natsStatus, text: String) {
        self.status = status
        self.text = text
    }

    /// Describes the latest error of this thread.
    init(_ status: natsStatus, code: jsErrCode = jsErrCode(0)) {
        self.status = status
        self.code = code.rawValue
        let detail = nats_GetLastError(nil).map { String(cString: $0) } ?? ""
        let name = natsStatus_GetText(status).map { String(cString: $0) } ?? "status \(status.rawValue)"
        text = detail.isEmpty ? name : Self.withoutPlace(detail)
    }

    /// Returns the text without the source line of libnats, such as `(conn.c:2088): `.
    private static func withoutPlace(_ text: String) -> String {
        guard text.hasPrefix("("), let end = text.firstRange(of: "): ") else { return text }
        return String(text[end.upperBound...])
    }

    /// Throws unless the status is that of success.
    static func check(_ status: natsStatus, code: jsErrCode = jsErrCode(0)) throws(NATSFailure) {
        guard status == NATS_OK else { throw NATSFailure(status, code: code) }
    }

    /// The error for the caller.
    ///
    /// - Parameters:
    ///   - key: the name of the value that was written or read.
    ///   - bytes: the size of the value that was written.
    ///   - refusal: the latest permission that the server has refused to this connection; nil for none.
    func error(key: String, bytes: Int = 0, limit: Int = 0, refusal: String? = nil) -> FleetStoreError {
        switch code {
        case JSStreamWrongLastSequenceErr.rawValue: return .conflict(key: key)
        case JSStreamNotFoundErr.rawValue:
            return .misconfigured(reason: "\(key): the stream doesn't exist; run 'indoorloc-fleet setup' first")
        case JSNotEnabledErr.rawValue, JSNotEnabledForAccountErr.rawValue:
            // A cluster without a leader reports this too.
            return .unavailable(reason: Self.noJetStream)
        case JSStreamMessageExceedsMaximumErr.rawValue: return .tooLarge(key: key, bytes: bytes, limit: limit)
        case JSStreamReplicasNotSupportedErr.rawValue, JSClusterNoPeersErr.rawValue:
            return .misconfigured(
                reason: "\(key): \(text); more than one replica requires as many servers in a cluster with JetStream")
        default: break
        }
        switch status {
        case NATS_MAX_PAYLOAD: return .tooLarge(key: key, bytes: bytes, limit: limit)
        case NATS_NO_SERVER:
            return .unavailable(reason: "no NATS server at \(key) accepts a connection; start it, or check the URL")
        case NATS_CONNECTION_AUTH_FAILED:
            return .notPermitted(reason: "the server refuses the credentials (\(text)); check user, password or file")
        case NATS_NOT_PERMITTED: return .notPermitted(reason: "\(key): \(text)")
        case NATS_TIMEOUT, NATS_NO_RESPONDERS:
            // A refused request has no answer. The server reports the refusal separately.
            if let refusal { return .notPermitted(reason: "\(key): \(refusal)") }
            return .unavailable(reason: "\(key): \(text)")
        case NATS_SSL_ERROR, NATS_SECURE_CONNECTION_WANTED, NATS_SECURE_CONNECTION_REQUIRED:
            return .misconfigured(reason: "TLS: \(text); check the URL's scheme and the certificate files")
        case NATS_NOT_FOUND where code == 0:
            return .misconfigured(reason: "\(key) doesn't exist; run 'indoorloc-fleet setup' first")
        default: return .unavailable(reason: "\(key): \(text)")
        }
    }

    static let noJetStream = "the NATS server has no JetStream; start it with -js, or enable it for the account"
}
