import TextFormats

/// The rules for access to a live map: the host name, the token, and the origin of a request that changes something.
struct LiveMapAccess: Sendable {
    /// The minimum length of a token in characters.
    static let shortestToken = 16

    private let token: [UInt8]?
    private let cookie: String
    private let hosts: Set<String>

    /// - Parameters:
    ///   - address: the address at which the server listens, with its port.
    ///   - token: nil allows every process of this host.
    init(_ address: LiveMapAddress, token: String?) {
        self.token = token.map { Array($0.utf8) }
        // A browser sends a host's cookies to all ports and, behind a reverse proxy, to all paths, so that two servers
        // need different names.
        let hash = SHA256.digest(of: self.token ?? []).prefix(4).reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        cookie = "live-map-\(address.port)-" + HexDigits.text(hash, 8, uppercase: false)
        let names = [
            "localhost", "127.0.0.1", "[::1]", address.host.contains(":") ? "[\(address.host)]" : address.host,
        ]
        hosts = Set(names.map { "\($0):\(address.port)" } + (address.port == 80 ? names : []))
    }

    /// Checks whether a token is present where the address requires one, and has at least 16 characters that a header,
    /// a cookie and a URL can transport.
    static func check(token: String?, for address: LiveMapAddress) throws(LiveMapError) {
        guard let token else {
            guard address.isLoopback else { throw .tokenRequired(address) }
            return
        }
        guard token.utf8.count >= shortestToken else {
            throw .badToken(reason: "it has \(token.utf8.count) characters, at least \(shortestToken) are required")
        }
        // The characters of a bearer token (RFC 6750, section 2.1).
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=".utf8)
        guard token.utf8.allSatisfy(allowed.contains) else {
            throw .badToken(reason: "only the characters A-Z, a-z, 0-9 and -._~+/= are allowed")
        }
    }

    /// Checks a request.
    ///
    /// - Returns: the headers that the response needs.
    /// - Throws: `HTTPProblem` if the request is refused.
    func check(_ request: HTTPRequest) throws(HTTPProblem) -> [HTTPHeader] {
        guard let host = request.headers["host"], !host.isEmpty else {
            throw HTTPProblem(400, "The header Host is missing.")
        }
        let headers = try checkToken(request)
        // A web site can point its own name at this host (DNS rebinding); then the header contains that name. If a
        // token is required, pages of that site get no content, so a reverse proxy may use any name.
        guard token != nil || hosts.contains(host.lowercased()) else {
            throw HTTPProblem(403, "The header Host '\(host)' is not this server's name: use \(hosts.sorted()[0]).")
        }
        if !request.isRead { try checkOrigin(request, host) }
        return headers
    }

    private func checkToken(_ request: HTTPRequest) throws(HTTPProblem) -> [HTTPHeader] {
        guard let token else { return [] }
        let parts = (request.headers["authorization"] ?? "").split(separator: " ")
        // Credentials with another scheme are for a reverse proxy; the browser sends them with each request.
        if parts.first?.lowercased() == "bearer" {
            guard parts.count == 2, Self.isEqual(parts[1].utf8, token) else {
                throw refusal("The token in the header Authorization is wrong.")
            }
            return []
        }
        if request.target.path == "/", let given = request.target.query["token"] {
            guard Self.isEqual(given.utf8, token) else { throw refusal("The parameter 'token' is wrong.") }
            let isSecure = request.headers["x-forwarded-proto"]?.lowercased() == "https"
            let attributes = "; Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
            return [HTTPHeader("Set-Cookie", "\(cookie)=\(given)\(attributes)")]
        }
        guard let given = request.cookie(cookie) else {
            throw refusal("A token is required: send 'Authorization: Bearer TOKEN', or open /?token=TOKEN once.")
        }
        guard Self.isEqual(given.utf8, token) else {
            throw refusal("The token in the cookie is out of date: open /?token=TOKEN once.")
        }
        return []
    }

    private func refusal(_ message: String) -> HTTPProblem {
        HTTPProblem(401, message, [HTTPHeader("WWW-Authenticate", "Bearer realm=\"live map\"")])
    }

    /// Checks the header Origin. A page of another site can send a request with the cookies of this one, but then the
    /// header contains the other site.
    private func checkOrigin(_ request: HTTPRequest, _ host: String) throws(HTTPProblem) {
        guard let origin = request.headers["origin"] else { return }
        let named = origin.firstRange(of: "://").map { origin[$0.upperBound...] }
        guard let named, named.lowercased() == host.lowercased() else {
            throw HTTPProblem(403, "The request comes from '\(origin)', not from this server's page.")
        }
    }

    /// Returns whether two byte sequences are equal. The duration doesn't depend on the position of a difference.
    private static func isEqual(_ given: some Collection<UInt8>, _ token: [UInt8]) -> Bool {
        var difference = given.count ^ token.count
        for (index, byte) in given.prefix(token.count).enumerated() { difference |= Int(byte ^ token[index]) }
        return difference == 0
    }
}
