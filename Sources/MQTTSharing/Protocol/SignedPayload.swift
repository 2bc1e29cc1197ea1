import FoundationEssentials
import TextFormats

/// Payloads with a signature.
///
/// A signed payload is a JSON object whose first member is `signature`: the Ed25519 signature in base64. It covers
/// these bytes: `indoorloc-sharing-1`, a zero byte, the topic, a zero byte, and the payload without that member. The
/// payload itself contains the device and `sequence`. The signature covers the JSON as it is sent, without re-encoding,
/// so that the signed form is unique.
package enum SignedPayload {
    private static let domain = "indoorloc-sharing-1"
    private static let head = Array(#"{"signature":""#.utf8)
    private static let tail = Array(#"","#.utf8)
    /// The length of a signature in base64.
    private static let textSize = 88

    /// Returns a payload with its signature.
    ///
    /// - Parameter payload: A JSON object with at least one member.
    package static func sign(_ payload: [UInt8], topic: String, with key: SharingSigningKey) -> [UInt8] {
        let signature = Base64Text.text(of: key.signature(of: covered(payload, topic)))
        return head + Array(signature.utf8) + tail + payload.dropFirst()
    }

    /// The result of the verification of a payload.
    package enum Verdict: Hashable, Sendable {
        case valid
        case unsigned
        case wrong
    }

    /// Verifies the signature of a payload.
    package static func verify(_ payload: [UInt8], topic: String, by key: SharingPublicKey) -> Verdict {
        let start = head.count + textSize
        guard payload.starts(with: head) else { return .unsigned }
        guard payload.count > start + tail.count, payload[start...].starts(with: tail),
            let signature = Data(base64Encoded: Data(payload[head.count..<start]))
        else { return .wrong }
        let original = [UInt8(ascii: "{")] + payload[(start + tail.count)...]
        return key.verifies(Array(signature), of: covered(original, topic)) ? .valid : .wrong
    }

    private static func covered(_ payload: [UInt8], _ topic: String) -> [UInt8] {
        Array(domain.utf8) + [0] + Array(topic.utf8) + [0] + payload
    }
}
