import LocalizationSession
import TextFormats

/// The address of a room of devices on a broker: `mqtt[s]://[USER@]HOST[:PORT]/ROOM`.
///
/// The user and the room are percent-encoded: each byte of a reserved character is written as `%` and two hexadecimal
/// digits.
package struct MQTTAddress: Hashable, Sendable {
    /// The broker, with the user but without a password. It uses TLS if the address begins with `mqtts`.
    package var broker: MQTTBroker
    /// The room of devices.
    package var room: String

    /// Parses an address.
    ///
    /// - Throws: `MQTTSharingError.badAddress` if the address is invalid, or contains a password, which other users
    ///   could see.
    package init(_ text: String) throws(MQTTSharingError) {
        let (broker, path) = try Self.parts(of: text, form: "mqtt[s]://[USER@]HOST[:PORT]/ROOM") { !$0.isEmpty }
        guard let room = Self.decoded(path) else { throw Self.badEncoding(of: text) }
        if let error = SharingNameError(of: room) {
            throw .badAddress(text, reason: "\(error)")
        }
        self.room = room
        self.broker = broker
    }

    /// Returns the broker of an address, and the part after the host and port, without the slash.
    ///
    /// - Parameters:
    ///   - form: the form of the address, for errors.
    ///   - isPath: whether the address may have a part after the host and port.
    fileprivate static func parts(
        of text: String, form: String, _ isPath: (Substring) -> Bool
    ) throws(MQTTSharingError) -> (broker: MQTTBroker, path: Substring) {
        let pattern = #/(mqtts?)://(?:([^@/?#]*)@)?(?:\[([^\[\]/@?#]+)\]|([^:\[\]/@?#]+))(?::(\d+))?(?:/([^/?#]*))?/#
        guard let match = text.wholeMatch(of: pattern), isPath(match.output.6 ?? "") else {
            throw .badAddress(text, reason: "the form must be \(form)")
        }
        let (_, scheme, user, bracketed, plain, digits, path) = match.output
        if let user, user.contains(":") {
            throw .badAddress(
                text,
                reason: "it contains a password, which other users can see; put the password into a file")
        }
        guard let name = decoded(user ?? "") else { throw badEncoding(of: text) }
        var port: UInt16?
        if let digits {
            guard let number = UInt16(digits), number > 0 else {
                throw .badAddress(text, reason: "the port is not from 1 to 65535")
            }
            port = number
        }
        let broker = MQTTBroker(
            host: String(bracketed ?? plain ?? ""), port: port,
            credentials: name.isEmpty ? nil : MQTTCredentials(user: name),
            security: scheme == "mqtts" ? MQTTSecurity() : nil)
        return (broker, path ?? "")
    }

    private static func badEncoding(of text: String) -> MQTTSharingError {
        .badAddress(text, reason: "a % is not followed by two hexadecimal digits of UTF-8")
    }

    /// Returns the text without percent encoding; nil if the encoding is invalid.
    private static func decoded(_ text: Substring) -> String? {
        EscapedText.unescaped(text.utf8, mark: UInt8(ascii: "%")).flatMap { String(validating: $0, as: UTF8.self) }
    }
}

extension MQTTBroker {
    /// Creates a broker from its address: `mqtt[s]://[USER@]HOST[:PORT]`. The user is percent-encoded.
    ///
    /// - Throws: `MQTTSharingError.badAddress` if the address is invalid, or contains a password or a room.
    package init(address text: String) throws(MQTTSharingError) {
        self = try MQTTAddress.parts(of: text, form: "mqtt[s]://[USER@]HOST[:PORT]") { $0.isEmpty }.broker
    }
}
