import IndoorLocalization
import VenuePackets
import TextFormats

/// The options of the commands that collect the levels of beacons during their session, and their values.
struct BeaconHistoryOptions: Sendable {
    static let options = [
        CommandOption(
            name: "beacon-history", argument: "FILE",
            help: "add the levels of the venue's beacons to this file, for 'indoorloc beacons'", proposals: .files),
        CommandOption(
            name: "follow-drift",
            help: "expect the levels to which beacons have slowly faded by --beacon-history, within bounds"),
    ]

    /// The file of the history.
    let path: String
    private let followsDrift: Bool

    /// Reads the options; returns nil without `--beacon-history`.
    init?(_ arguments: ParsedArguments) throws(UsageError) {
        followsDrift = arguments.has("follow-drift")
        let command = arguments.syntax.name
        guard let value = arguments.value("beacon-history") else {
            guard followsDrift else { return nil }
            throw UsageError(message: "--follow-drift requires --beacon-history", command: command)
        }
        path = ParsedArguments.path(value)
        guard followsDrift else { return }
        guard arguments.has("venue") else {
            throw UsageError(message: "--follow-drift requires --venue", command: command)
        }
        // A radio map that is learned from walks already expects the present levels.
        if arguments.has("survey") {
            throw UsageError(message: "--survey and --follow-drift can't be combined", command: command)
        }
    }

    /// Follows the history of a venue, and corrects the venue.
    ///
    /// - Returns: the corrections; none without `--follow-drift`.
    /// - Throws: `BeaconHistoryFileError` if the file can't be used.
    func follow(_ venue: inout Venue) async throws(BeaconHistoryFileError) -> FollowedDrift {
        guard followsDrift else { return FollowedDrift() }
        let file = try BeaconHistoryFile.opened(path)
        let corrections = venue.usable(
            try await file.follow(venue.id, version: venue.version, until: BeaconHistory.today).corrections)
        StandardError.line(Self.line(corrections, venue), .info)
        let drift = FollowedDrift(corrections, of: venue)
        venue = venue.corrected(by: corrections)
        return drift
    }

    /// Returns the companion that writes the history.
    ///
    /// - Throws: `BeaconHistoryFileError` if the file can't be used.
    func companion(_ drift: FollowedDrift) throws(BeaconHistoryFileError) -> BeaconHistoryCompanion {
        BeaconHistoryCompanion(try .opened(path), drift: drift)
    }

    private static func line(_ corrections: [BeaconIdentity: Double], _ venue: Venue) -> String {
        let name = "--follow-drift: '\(PrintableText.line(venue.name))'"
        let largest = corrections.max { ($0.value.magnitude, $1.key) < ($1.value.magnitude, $0.key) }
        guard let largest else { return "\(name): no level is corrected" }
        let beacon = BeaconNames(venue).name(of: largest.key)
        return "\(name): the levels of \(corrections.count.counting("beacon")) are corrected, at most by "
            + "\(JSONText.number(largest.value, decimals: 1)) dB (\(beacon))"
    }
}

/// The corrections of the beacons' levels with which a session expects its venues.
struct FollowedDrift: Sendable {
    private struct Scope: Hashable {
        let venue: VenueID
        let version: Int
    }

    private var corrections: [Scope: [BeaconIdentity: Double]] = [:]

    /// Creates an empty collection.
    init() {}

    /// Creates the corrections of a venue.
    init(_ corrections: [BeaconIdentity: Double], of venue: Venue) {
        self.corrections = [Scope(venue: venue.id, version: venue.version): corrections]
    }

    /// Adds the corrections of another venue.
    mutating func add(_ other: FollowedDrift) { corrections.merge(other.corrections) { first, _ in first } }

    /// Returns the levels relative to the packet. The history has these, so that a correction doesn't hide its cause.
    func uncorrected(_ levels: VenueLevels) -> VenueLevels {
        guard let known = corrections[Scope(venue: levels.venueID, version: levels.version)] else { return levels }
        var levels = levels
        levels.levels = levels.levels.withoutCorrections(known)
        return levels
    }
}
