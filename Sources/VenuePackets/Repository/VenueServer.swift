import CCurl

/// A web server with venue packets, and how to talk to it.
public struct VenueServer: Hashable, Sendable {
    /// The address of the folder with the catalogue, without a slash at the end.
    public let url: String
    /// Who asks; nil for a server that answers everybody.
    public let credentials: VenueServerCredentials?
    /// The path of a file with the certificates (PEM) of the authorities that may vouch for the server; nil for those that
    /// the system knows.
    public let certificateAuthority: String?
    /// When to give up, and when to try again.
    public let patience: VenueServerPatience

    /// Describes a server.
    ///
    /// - Parameter url: such as `https://venues.example.org/museum`; http or https, without user, query or fragment.
    /// - Throws: `VenueRepositoryError.badServer` if a server cannot be reached that way.
    public init(
        _ url: String, credentials: VenueServerCredentials? = nil, certificateAuthority: String? = nil,
        patience: VenueServerPatience = VenueServerPatience()
    ) throws(VenueRepositoryError) {
        if let problem = WebAddress.problem(of: url) { throw .badServer(problem) }
        if let problem = credentials?.problem { throw .badServer(problem) }
        if let problem = patience.problem { throw .badServer(problem) }
        var base = url[...]
        while base.hasSuffix("/") { base.removeLast() }
        self.url = String(base)
        self.credentials = credentials
        self.certificateAuthority = certificateAuthority.map(LocalPath.absolute)
        self.patience = patience
    }

    /// The address of a file, by its path below the server's folder.
    func address(of path: String) -> String {
        url + "/" + path.split(separator: "/").map { WebAddress.escaped(String($0)) }.joined(separator: "/")
    }
}

/// When to give up on a server, and when to try again.
public struct VenueServerPatience: Hashable, Sendable {
    /// How long a connection may take, TLS included; above 0 s, at most an hour.
    public var connectTimeout = Duration.seconds(10)
    /// A transfer that stays below `slowestRate` for this long is ended; whole seconds from 1 s to an hour.
    public var stallTimeout = Duration.seconds(20)
    /// Bytes a second, above 0: what is slower counts as a stall.
    public var slowestRate = 100
    /// How often a request is tried, in [1, 100], if nothing is stored that could be used instead; else once.
    public var attempts = 3
    /// The longest pause before the second attempt; later ones double. From 0 s to an hour.
    public var firstPause = Duration.seconds(1)

    /// Creates the settings with their defaults.
    public init() {}

    /// What is out of range; nil if nothing is.
    var problem: String? {
        let hour = Duration.seconds(3_600)
        if connectTimeout < .milliseconds(1) || connectTimeout > hour {
            return "connectTimeout must be in [0.001, 3600] s, not \(connectTimeout.seconds)"
        }
        if stallTimeout < .seconds(1) || stallTimeout > hour {
            return "stallTimeout must be in [1, 3600] s, not \(stallTimeout.seconds)"
        }
        if slowestRate < 1 || slowestRate > 1 << 30 {
            return "slowestRate must be in [1, 2^30] B/s, not \(slowestRate)"
        }
        if attempts < 1 || attempts > 100 { return "attempts must be in [1, 100], not \(attempts)" }
        if firstPause < .zero || firstPause > hour {
            return "firstPause must be in [0, 3600] s, not \(firstPause.seconds)"
        }
        return nil
    }
}

/// What proves to a server who asks: a bearer token, or user and password.
///
/// Its texts are given to the server and to nobody else: no description, dump or error shows them.
public struct VenueServerCredentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    enum Secret: Hashable, Sendable {
        case bearer(String)
        case basic(user: String, password: String)
    }

    let secret: Secret

    /// A token, as in RFC 6750.
    public static func bearer(_ token: String) -> VenueServerCredentials { Self(secret: .bearer(token)) }

    /// User and password, as in RFC 7617; the user must not contain a colon.
    public static func basic(user: String, password: String) -> VenueServerCredentials {
        Self(secret: .basic(user: user, password: password))
    }

    /// Why no request could carry them; nil if one can.
    var problem: String? {
        // What ends a line would begin a header of its own, and what ends a C string would cut the rest off.
        func isHeaderText(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
        switch secret {
        case .bearer(let token):
            let isPlain = token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            return isPlain && !token.isEmpty
                ? nil : "the token is empty or holds blanks or control characters; correct it"
        case .basic(let user, let password):
            let isPlain = isHeaderText(user) && isHeaderText(password) && !user.contains(":")
            return isPlain ? nil : "user or password holds control characters, or the user a colon; correct it"
        }
    }

    public var description: String {
        switch secret {
        case .bearer: "bearer token (hidden)"
        case .basic: "user and password (hidden)"
        }
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
