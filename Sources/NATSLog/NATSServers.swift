/// The servers of a cluster, with the credentials and the security of the connection.
package struct NATSServers: Hashable, Sendable {
    /// The URLs of one or more servers of a cluster, such as `nats://127.0.0.1:4222`; `tls://` requires TLS.
    package var urls: [String]
    /// The user and the password; nil for none.
    package var user: Credentials?
    /// The path of a credentials file with a JWT and its key, as `nsc` writes it; nil for none.
    package var credentialsFile: String?
    /// The TLS settings; nil for a connection without TLS, unless a URL begins with `tls`.
    package var security: Security?

    /// A user and a password.
    package struct Credentials: Hashable, Sendable, CustomStringConvertible {
        package var user: String
        package var password: String

        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }

        /// The user, without the password.
        package var description: String { user }
    }

    /// The files of a connection with TLS, in PEM format.
    package struct Security: Hashable, Sendable {
        /// The certificate authorities to trust; nil for those of the system.
        package var authorityFile: String?
        /// The client's certificate; nil if the server requires none.
        package var certificateFile: String?
        /// The key of the client's certificate.
        package var keyFile: String?

        package init(authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil) {
            self.authorityFile = authorityFile
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    package init(
        urls: [String], user: Credentials? = nil, credentialsFile: String? = nil, security: Security? = nil
    ) {
        self.urls = urls
        self.user = user
        self.credentialsFile = credentialsFile
        self.security = security
    }
}
