import CCurl
import IndoorVocabulary

/// A web server with venue packets, and the rules for requests to it.
public struct VenueServer: Hashable, Sendable {
    /// The name of the catalogue in the server's folder.
    static let catalogueFile = "catalogue.json"

    /// The URL of the folder with the catalogue, without a trailing slash.
    package let url: String
    /// The credentials; nil for a server without authentication.
    package let credentials: VenueServerCredentials?
    /// The path of a file with the certificates (PEM) of trusted authorities; nil for those of the system.
    package let certificateAuthority: String?
    /// The timeouts and retries of requests.
    package let patience: RetryPolicy

    /// Describes a server.
    ///
    /// - Parameters:
    ///   - url: such as `https://venues.example.org/museum`; http or https, without user, query or fragment.
    ///   - allowsPlainCredentials: whether credentials may be sent over http, where others on the network can read
    ///     them. Credentials for this machine (localhost, 127.0.0.0/8, ::1) are always allowed.
    /// - Throws: `VenueRepositoryError.badServer` if a value is invalid.
    public init(
        _ url: String, credentials: VenueServerCredentials? = nil, certificateAuthority: String? = nil,
        patience: RetryPolicy = RetryPolicy(), allowsPlainCredentials: Bool = false
    ) throws(VenueRepositoryError) {
        if let problem = WebAddress.problem(of: url) { throw .badServer(problem) }
        if let problem = credentials?.problem { throw .badServer(problem) }
        if credentials != nil, !allowsPlainCredentials, Self.sendsInTheClear(to: url) {
            throw .badServer(
                "http would send the credentials unencrypted, where others can read them; use https, or allow it "
                    + "(allowsPlainCredentials, --plain-credentials)")
        }
        if let problem = patience.problem { throw .badServer(problem) }
        var base = url[...]
        while base.hasSuffix("/") { base.removeLast() }
        self.url = String(base)
        self.credentials = credentials
        self.certificateAuthority = certificateAuthority.map(LocalPath.absolute)
        self.patience = patience
    }

    /// Returns whether others on the network could read a request: http to a host other than this machine.
    package static func sendsInTheClear(to url: String) -> Bool {
        url.lowercased().hasPrefix("http:") && !WebAddress.isLoopback(url)
    }

    /// Returns the URL of a file, given by its path below the server's folder.
    func address(of path: String) -> String {
        url + "/" + path.split(separator: "/").map { WebAddress.escaped(String($0)) }.joined(separator: "/")
    }
}

/// Credentials for a server: a bearer token, or user and password.
///
/// Only the server receives these texts: descriptions, dumps and errors don't contain them.
public struct VenueServerCredentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    enum Secret: Hashable, Sendable {
        case bearer(String)
        case basic(user: String, password: String)
    }

    let secret: Secret

    /// A bearer token, as in RFC 6750.
    public static func bearer(_ token: String) -> VenueServerCredentials { Self(secret: .bearer(token)) }

    /// User and password, as in RFC 7617; the user must not contain a colon.
    public static func basic(user: String, password: String) -> VenueServerCredentials {
        Self(secret: .basic(user: user, password: password))
    }

    /// The reason why a request cannot carry the credentials; nil if it can.
    var problem: String? {
        // A line break would begin another header, and a null character would truncate the text.
        func isHeaderText(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
        switch secret {
        case .bearer(let token):
            let isPlain = token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            return isPlain && !token.isEmpty
                ? nil : "the token is empty or contains blanks or control characters; correct it"
        case .basic(let user, let password):
            let isPlain = isHeaderText(user) && isHeaderText(password) && !user.contains(":")
            return isPlain
                ? nil : "user or password contains control characters, or the user contains a colon; correct it"
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

extension VenueServer {
    /// Sends a document to the server's URL and returns when the server confirms it with a status from 200 to 299.
    ///
    /// - Parameters:
    ///   - type: the document's media type.
    ///   - headers: further header lines of the request.
    package func post(_ bytes: [UInt8], type: String, headers: [String] = []) async throws(VenueRepositoryError) {
        var request = TransferRequest(url: url)
        request.post = TransferRequest.Post(bytes: bytes, headers: ["Content-Type: \(type)"] + headers)
        let head: TransferHead
        do throws(TransferFailure) {
            head = try await CurlTransport(server: self).fetch(request) { _, _ in false }
        } catch { throw VenueRepositoryError(error, url: url) }
        guard (200...299).contains(head.status) else { throw .status(head.status, of: self, url: url) }
    }
}

/// The timeouts and retries of requests to a server.
public struct RetryPolicy: Hashable, Sendable {
    /// The longest time for a connection, including TLS; above 0 s, at most an hour.
    public var connectTimeout = Duration.seconds(10)
    /// A transfer that stays slower than `slowestRate` for this long is stopped; at least 1 s, at most an hour, rounded
    /// up to whole seconds.
    public var stallTimeout = Duration.seconds(20)
    /// The slowest acceptable rate in bytes per second, above 0; a slower transfer is stalled.
    public var slowestRate = 100
    /// The longest time for one transfer, including redirects; above 0 s, at most an hour. A file whose size is in the
    /// catalogue may take one more second per 16 KiB.
    public var transferTimeout = Duration.seconds(60)
    /// The longest time to wait for a newer venue or catalogue from the server if one is stored; from 0 s to an hour.
    /// After that, the repository uses the stored one and the transfer continues in the background.
    public var grace = Duration.seconds(1)
    /// The number of attempts, in [1, 100], if nothing usable is stored; otherwise one attempt is made.
    public var attempts = 3
    /// The longest pause before the second attempt; later pauses double. From 0 s to an hour.
    public var firstPause = Duration.seconds(1)

    /// Creates the default policy.
    public init() {}

    /// Returns the longest time for a transfer of `size` bytes; nil if the size is unknown.
    func deadline(for size: Int?) -> Duration { transferTimeout + .seconds((size ?? 0) / Self.leastPace) }

    /// The slowest average rate in bytes per second that is accepted for a large file, slow enough for a slow mobile
    /// network.
    private static let leastPace = 16 << 10

    /// The first value that is out of range; nil if there is none.
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
        if transferTimeout < .milliseconds(1) || transferTimeout > hour {
            return "transferTimeout must be in [0.001, 3600] s, not \(transferTimeout.seconds)"
        }
        if grace < .zero || grace > hour { return "grace must be in [0, 3600] s, not \(grace.seconds)" }
        if attempts < 1 || attempts > 100 { return "attempts must be in [1, 100], not \(attempts)" }
        if firstPause < .zero || firstPause > hour {
            return "firstPause must be in [0, 3600] s, not \(firstPause.seconds)"
        }
        return nil
    }
}

/// Retries an operation after transient failures, with pauses that double and are partly random.
struct RetryPauses: Sendable {
    /// The longest first pause.
    let first: Duration
    /// The seed of the random part of the pauses.
    let seed: UInt64
    /// Waits for a duration.
    let sleep: @Sendable (Duration) async throws -> Void
    /// Called with the failure and the time until the next attempt.
    let report: @Sendable (VenueRepositoryError, Duration) -> Void

    /// Runs the body up to the given number of times.
    ///
    /// - Throws: the last error of the body, or `.cancelled`.
    func run<Success: Sendable>(
        attempts: Int, _ body: () async throws(VenueRepositoryError) -> Success
    ) async throws(VenueRepositoryError) -> Success {
        var backoff = Backoff(first: first, seed: seed)
        for _ in 1..<max(attempts, 1) {
            do throws(VenueRepositoryError) {
                return try await body()
            } catch {
                guard error.isTransient else { throw error }
                let pause = backoff.next()
                report(error, pause)
                do { try await sleep(pause) } catch { throw .cancelled }
            }
        }
        return try await body()
    }
}
