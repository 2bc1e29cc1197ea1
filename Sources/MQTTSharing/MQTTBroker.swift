import IndoorVocabulary

/// An MQTT broker, and how one is let in there.
public struct MQTTBroker: Hashable, Sendable {
    /// The port that brokers listen on, by assignment of IANA.
    public static let standardPort: UInt16 = 1883
    /// The port that brokers listen on for TLS, by assignment of IANA.
    public static let standardSecurePort: UInt16 = 8883

    /// Name or address of the machine that the broker runs on.
    public var host: String
    /// The port that it listens on.
    public var port: UInt16
    /// Who one is; nil for a broker that lets everybody in.
    public var credentials: MQTTCredentials?
    /// How the connection is kept from others; nil for one in the clear.
    public var security: MQTTSecurity?
    /// Whether a password may be sent without TLS, where everybody on the way can read it. To this machine itself
    /// (localhost, 127.0.0.0/8, ::1) it may in any case.
    public var allowsPlainPassword: Bool

    /// Describes a broker.
    ///
    /// - Parameter port: nil for the standard one, with or without TLS.
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

    /// Whether others could read the password on its way: it goes to another machine, without TLS.
    package var sendsPasswordInTheClear: Bool {
        security == nil && credentials?.password != nil && !LoopbackHost.contains(host)
    }

    /// Refuses to send a password that others could read, unless that is allowed.
    ///
    /// - Throws: `MQTTSharingError.plainPassword`.
    package func checkSecrecy() throws(MQTTSharingError) {
        if sendsPasswordInTheClear, !allowsPlainPassword { throw .plainPassword(host: host) }
    }
}

/// How a connection to a broker is encrypted, and by what broker and device prove who they are. Files are PEM.
public struct MQTTSecurity: Hashable, Sendable {
    /// File with the certificates that may vouch for the broker; nil for those that the system trusts.
    public var authorityFile: String?
    /// File with the device's own certificate; nil if the broker asks for none.
    public var certificateFile: String?
    /// File with the key of the device's certificate, without a passphrase.
    public var keyFile: String?

    /// Describes the security of a connection. The broker's certificate must be for the host that was named.
    public init(authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil) {
        self.authorityFile = authorityFile
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }
}
