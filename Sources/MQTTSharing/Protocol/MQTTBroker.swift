import IndoorVocabulary

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
