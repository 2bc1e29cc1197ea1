import LocalizationSession

/// The address of a room of devices on a broker: `mqtt[s]://[USER@]HOST[:PORT]/ROOM`.
///
/// The user and the room are percent-encoded: each byte of a reserved character is written as `%` and two hexadecimal
/// digits.
public struct MQTTAddress: Hashable, Sendable {
    /// The broker, with the user but without a password. It uses TLS if the address begins with `mqtts`.
    public var broker: MQTTBroker
    /// The room of devices.
    public var room: String

    /// Parses an address.
    ///
    /// - Throws: `MQTTSharingError.badAddress` if the address is invalid, or contains a password, which other users
    ///   could see.
    public init(_ text: String) throws(MQTTSharingError) {
        let form = #/(mqtts?)://(?:([^@/]*)@)?(?:\[([^\[\]/@]+)\]|([^:\[\]/@]+))(?::(\d+))?/([^/]+)/#
        guard let match = text.wholeMatch(of: form) else {
            throw .badAddress(
                Self.withoutPassword(text), reason: "the form must be mqtt[s]://[USER@]HOST[:PORT]/ROOM")
        }
        let (_, scheme, user, bracketed, plain, digits, path) = match.output
        if let user, user.contains(":") {
            throw .badAddress(
                Self.withoutPassword(text),
                reason: "it contains a password, which other users can see; put the password into a file")
        }
        guard let name = Self.decoded(user ?? ""), let room = Self.decoded(path) else {
            throw .badAddress(
                Self.withoutPassword(text), reason: "a % is not followed by two hexadecimal digits of UTF-8")
        }
        if let error = SharingNameError(of: room) {
            throw .badAddress(Self.withoutPassword(text), reason: "\(error)")
        }
        var port: UInt16?
        if let digits {
            guard let number = UInt16(digits), number > 0 else {
                throw .badAddress(Self.withoutPassword(text), reason: "the port is not from 1 to 65535")
            }
            port = number
        }
        self.room = room
        broker = MQTTBroker(
            host: String(bracketed ?? plain ?? ""), port: port,
            credentials: name.isEmpty ? nil : MQTTCredentials(user: name),
            security: scheme == "mqtts" ? MQTTSecurity() : nil)
    }

    /// Returns the text without percent encoding; nil if the encoding is invalid.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
                let value = UInt8(String(Substring(digits)), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns the text with an ellipsis in place of a possible password: everything from the first colon after the
    /// slashes to the last `@`, because a password may contain slashes, colons and `@`.
    private static func withoutPassword(_ text: String) -> String {
        let start = text.prefixMatch(of: #/[^:/@]*:\/\//#)?.range.upperBound ?? text.startIndex
        guard let end = text.lastIndex(of: "@"), start < end, let colon = text[start..<end].firstIndex(of: ":") else {
            return text
        }
        return text[...colon] + "…" + text[end...]
    }
}
