import IndoorVocabulary

/// When to give up on a server, and when to try again.
public struct RetryPolicy: Hashable, Sendable {
    /// How long a connection may take, TLS included; above 0 s, at most an hour.
    public var connectTimeout = Duration.seconds(10)
    /// A transfer that stays below `slowestRate` for this long is ended; whole seconds from 1 s to an hour.
    public var stallTimeout = Duration.seconds(20)
    /// Bytes a second, above 0: what is slower counts as a stall.
    public var slowestRate = 100
    /// The longest that one transfer may take, redirects included; above 0 s, at most an hour. A file whose size the
    /// catalogue gives may take a second more for each 16 KiB.
    public var transferTimeout = Duration.seconds(60)
    /// How long a venue or catalogue that is stored waits for the server's newer one; from 0 s to an hour. After that the
    /// repository goes on with what is stored, and the transfer goes on behind it.
    public var grace = Duration.seconds(1)
    /// How often a request is tried, in [1, 100], if nothing is stored that could be used instead; else once.
    public var attempts = 3
    /// The longest pause before the second attempt; later ones double. From 0 s to an hour.
    public var firstPause = Duration.seconds(1)

    /// Creates the settings with their defaults.
    public init() {}

    /// How long a transfer may take, from its beginning; `size` in bytes, nil if unknown.
    func deadline(for size: Int?) -> Duration { transferTimeout + .seconds((size ?? 0) / Self.leastPace) }

    /// The bytes a second at which a large file must come: enough for a slow mobile network.
    private static let leastPace = 16 << 10

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
