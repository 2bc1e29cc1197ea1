import LocalizationSession

/// A room of devices on a broker as one text: `mqtt[s]://[USER@]HOST[:PORT]/ROOM`.
///
/// Characters of the user and the room that an address cannot have are written as `%` and two hexadecimal digits, each
/// byte of them.
public struct MQTTAddress: Hashable, Sendable {
    /// The broker, with the user but without a password; with TLS if the address began with `mqtts`.
    public var broker: MQTTBroker
    /// The room of devices.
    public var room: String

    /// Reads an address.
    ///
    /// - Throws: `MQTTSharingError.badAddress` if it is none, also where it holds a password, which others could see.
    public init(_ text: String) throws(MQTTSharingError) {
        let form = #/(mqtts?)://(?:([^@/]*)@)?(?:\[([^\[\]/@]+)\]|([^:\[\]/@]+))(?::(\d+))?/([^/]+)/#
        guard let match = text.wholeMatch(of: form) else {
            throw .badAddress(
                Self.withoutPassword(text), reason: "it is not of the form mqtt[s]://[USER@]HOST[:PORT]/ROOM")
        }
        let (_, scheme, user, bracketed, plain, digits, path) = match.output
        if let user, user.contains(":") {
            throw .badAddress(
                Self.withoutPassword(text), reason: "it holds a password, which others can see; put it into a file")
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

    /// The text without percent encoding; nil where that is wrong.
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

    /// The text with three dots for what may be a password: all from the first colon behind the slashes to the last `@`,
    /// as passwords have slashes, colons and `@`, too.
    private static func withoutPassword(_ text: String) -> String {
        let start = text.prefixMatch(of: #/[^:/@]*:\/\//#)?.range.upperBound ?? text.startIndex
        guard let end = text.lastIndex(of: "@"), start < end, let colon = text[start..<end].firstIndex(of: ":") else {
            return text
        }
        return text[...colon] + "…" + text[end...]
    }
}
