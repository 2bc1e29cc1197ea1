import IndoorVocabulary

/// The address of a live map's server before the server starts.
///
/// A listener reports an unusable address early, while the content is still being prepared. Connections wait until a
/// server starts with the listener; without one, the listener frees the address when it is released.
package final class LiveMapListener: Sendable {
    /// The address, with the port that was chosen for port 0.
    package let address: LiveMapAddress
    let token: String?
    /// The sockets that no server owns yet.
    private let sockets: Guarded<[ListeningSocket]>

    /// Listens at an address.
    ///
    /// - Parameters:
    ///   - address: the address at which the server will listen.
    ///   - token: the token that each request needs, of at least 16 characters of A-Z, a-z, 0-9 and -._~+/=. Without a
    ///     token, all processes of this host have access.
    /// - Throws: `LiveMapError.tokenRequired` if an address that other hosts can reach has no token, `.badToken` if the
    ///   token is invalid, `.addressInUse`, `.addressNotAvailable` or `.notPermitted` if the system refuses the
    ///   address, and `.system` for other errors.
    package init(_ address: LiveMapAddress = .standard, token: String? = nil) throws(LiveMapError) {
        try LiveMapAccess.check(token: token, for: address)
        let sockets = try ListeningSocket.all(at: address)
        self.address = address.withPort(sockets[0].address.port)
        self.token = token
        self.sockets = Guarded(sockets)
    }

    deinit { for socket in take() { socket.close() } }

    /// Returns the sockets, which the caller then owns; none after the first call.
    func take() -> [ListeningSocket] {
        sockets.withLock { sockets in
            defer { sockets = [] }
            return sockets
        }
    }
}
