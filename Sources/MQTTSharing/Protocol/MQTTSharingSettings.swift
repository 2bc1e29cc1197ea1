import Glibc
import IndoorVocabulary
import LocalizationSession
import SecretFiles
import TextFormats

/// The settings of position sharing over a broker.
public struct MQTTSharingSettings: Hashable, Sendable {
    /// The prefix of all topics. Only devices with the same prefix see each other.
    public var prefix = "indoorloc/v1"
    /// The shortest time between two published positions, up to a day. The newest position replaces one that waits.
    /// Zero publishes each position immediately.
    public var interval = Duration.seconds(1)
    /// The capacity of a room in devices; nil for no limit. If the broker also sets a limit, the lower one applies.
    public var roomCapacity: Int?
    /// The capacity of the server in devices; nil for no limit.
    public var serverCapacity: Int?
    /// The silence after which the client pings the broker. After one and a half times this duration, the broker
    /// considers the device gone. In whole seconds, from 5 s to 65 535 s.
    public var keepAlive = Duration.seconds(15)
    /// The time limit for an answer of the broker, from 1 ms to an hour.
    public var patience = Duration.seconds(10)
    /// The longest pause before the first attempt to reconnect, at least 1 ms. It doubles for each further attempt, up
    /// to a minute.
    public var firstPause = Duration.seconds(1)
    /// The time at the end after which the link no longer waits for a broker that confirms none of the pending messages; nil
    /// for the usual one of a link.
    package var closingTime: Duration?
    /// The prefix of Home Assistant's discovery topics, usually `homeassistant`; nil publishes nothing for Home
    /// Assistant.
    public var homeAssistantPrefix: String?

    /// Whether the device obeys the limits that the broker retains under `limits`. Any client that may write this
    /// topic can keep devices out of rooms.
    public var obeysBrokerLimits = true
    /// The key with which the device signs its presence, positions and texts; nil for no signatures.
    public var signingKey: SharingSigningKey?
    /// The devices whose signatures the device verifies; nil verifies none.
    public var trust: SharingTrust?

    /// Creates the default settings.
    public init() {}

    /// The shortest time between two refreshes of the occupancy.
    package static let refreshInterval = Duration.milliseconds(500)
    /// The longest text that can be sent, in bytes of UTF-8.
    package static let longestText = 4096
    /// The longest tag, in bytes of UTF-8.
    package static let longestTag = 256

    var keepAliveSeconds: Int32 { Int32(max(5, min(65_535, keepAlive.seconds.rounded(.up)))) }
}

extension MQTTSharingSettings {
    /// Checks that all settings are in range.
    ///
    /// - Throws: `MQTTSharingError.badPrefix` or `badSetting`.
    package func check() throws(MQTTSharingError) {
        for prefix in [prefix] + (homeAssistantPrefix.map { [$0] } ?? []) {
            let levels = prefix.split(separator: "/", omittingEmptySubsequences: false)
            guard levels.allSatisfy({ SharingNameError(of: String($0)) == nil }) else { throw .badPrefix(prefix) }
        }
        try Self.check("interval", interval, 0...86_400)
        try Self.check("keepAlive", keepAlive, 5...65_535)
        try Self.check("patience", patience, 0.001...3600)
        try Self.check("firstPause", firstPause, 0.001...60)
        for (name, capacity) in [("roomCapacity", roomCapacity), ("serverCapacity", serverCapacity)] {
            guard let capacity, capacity < 0 else { continue }
            throw .badSetting(name: name, value: "\(capacity)", range: "0 or more devices")
        }
    }

    private static func check(
        _ name: String, _ value: Duration, _ range: ClosedRange<Double>
    ) throws(MQTTSharingError) {
        guard !range.contains(value.seconds) else { return }
        throw .badSetting(
            name: name, value: "\(value.seconds) s", range: "\(range.lowerBound) s to \(range.upperBound) s")
    }
}

/// An MQTT broker, with the credentials and the security of the connection.
public struct MQTTBroker: Hashable, Sendable {
    /// The port that IANA assigned to MQTT.
    package static let standardPort: UInt16 = 1883
    /// The port that IANA assigned to MQTT over TLS.
    package static let standardSecurePort: UInt16 = 8883

    /// The name or address of the broker's host.
    public var host: String
    /// The broker's port.
    public var port: UInt16
    /// The client's credentials; nil for a broker that allows anonymous clients.
    package var credentials: MQTTCredentials?
    /// The TLS settings of the connection; nil for an unencrypted connection.
    package var security: MQTTSecurity?
    /// Whether the client may send a password without TLS, which others on the network can read. Over loopback
    /// (localhost, 127.0.0.0/8, ::1) it always may.
    package var allowsPlainPassword: Bool

    /// Creates a broker.
    ///
    /// - Parameter port: The port; nil for the standard port with or without TLS.
    public init(
        host: String = "localhost", port: UInt16? = nil, credentials: MQTTCredentials? = nil,
        security: MQTTSecurity? = nil, allowsPlainPassword: Bool = false
    ) {
        self.host = host
        self.port = port ?? (security == nil ? Self.standardPort : Self.standardSecurePort)
        self.credentials = credentials
        self.security = security
        self.allowsPlainPassword = allowsPlainPassword
    }

    /// Whether the client would send a password to another host without TLS.
    package var sendsPasswordInTheClear: Bool {
        security == nil && credentials?.password != nil && !LoopbackHost.contains(host)
    }

    /// Checks that the client doesn't send a password without TLS, unless that is allowed.
    ///
    /// - Throws: `MQTTSharingError.plainPassword`.
    package func checkSecrecy() throws(MQTTSharingError) {
        if sendsPasswordInTheClear, !allowsPlainPassword { throw .plainPassword(host: host) }
    }
}

/// The TLS settings of a connection to a broker, with the certificates of broker and device. Files are in PEM format.
public struct MQTTSecurity: Hashable, Sendable {
    /// The file with the trusted certificate authorities; nil for those that the system trusts.
    package var authorityFile: String?
    /// The file with the device's own certificate; nil if the broker requires none.
    package var certificateFile: String?
    /// The file with the key of the device's certificate, without a passphrase.
    package var keyFile: String?

    /// Creates the settings. The broker's certificate must be valid for the broker's host.
    public init(authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil) {
        self.authorityFile = authorityFile
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }
}

/// The user name and password of an MQTT client. No description contains the password.
public struct MQTTCredentials: Hashable, Sendable {
    /// The default environment variable for the password.
    package static let environmentVariable = "INDOORLOC_MQTT_PASSWORD"

    /// The user name.
    package var user: String
    /// The password; nil for none.
    let password: String?

    /// Creates credentials from a user name and a password.
    public init(user: String, password: String? = nil) {
        self.user = user
        self.password = password
    }

    /// Creates credentials with the password from the first line of a file.
    ///
    /// - Throws: `MQTTSharingError.badFile` if the file isn't readable, is accessible to every user of the machine, or its
    ///   first line is empty or too long.
    public init(user: String, passwordFile path: String) throws(MQTTSharingError) {
        let password: String
        do throws(SecretFileError) { password = try SecretFile(path, .password).line() } catch {
            throw .badFile(path: path, reason: error.explanation)
        }
        self.init(user: user, password: password)
    }

    /// Creates credentials with the password from an environment variable; without a password if the variable isn't set
    /// or is empty.
    public init(user: String, passwordVariable name: String) {
        let value = getenv(name).map { String(cString: $0) } ?? ""
        self.init(user: user, password: value.isEmpty ? nil : value)
    }
}

extension MQTTCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(user), \(password == nil ? "without" : "with") a password" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}

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
