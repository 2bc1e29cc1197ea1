import IndoorVocabulary

/// The detection of satellite positions that are this session's own positions, returned by gpsd.
///
/// A coordinate in a sentence is rounded to 2 mm. By chance, about one in a million positions of a receiver equals one
/// of the latest sent coordinates. Several such positions in succession never occur by chance. Outdoor positions aren't
/// compared, because they are those of the receiver.
package struct EchoWatch: Sendable {
    /// The outcome for a satellite position.
    package enum Outcome: Hashable, Sendable {
        /// This session hasn't sent the position.
        case foreign
        /// The position equals one that this session has sent, possibly by chance. The session leaves it out.
        case suspect
        /// The receiver reports positions that this session has sent.
        case echo
    }

    /// The number of sent coordinates to compare with: at least a minute of positions.
    private static let memory = 128
    /// The number of latest satellite positions that the decision takes into account.
    private static let window = 16
    /// The number of them that equal a sent coordinate and prove an echo.
    private static let proof = 3
    /// The largest difference of equal coordinates in degrees: half of a sentence's last digit, and the rounding of
    /// gpsd.
    private static let tolerance = 2e-8

    private var sent: [Coordinate] = []
    private var matches: [Bool] = []

    package init() {}

    /// Stores a coordinate that is sent.
    package mutating func send(_ coordinate: Coordinate) {
        if sent.count == Self.memory { sent.removeFirst() }
        sent.append(coordinate)
    }

    /// Compares a satellite position with the sent coordinates.
    package mutating func receive(_ coordinate: Coordinate) -> Outcome {
        let isOwn = sent.contains {
            abs($0.latitude - coordinate.latitude) <= Self.tolerance
                && abs($0.longitude - coordinate.longitude) <= Self.tolerance
        }
        if matches.count == Self.window { matches.removeFirst() }
        matches.append(isOwn)
        guard isOwn else { return .foreign }
        return matches.count(where: \.self) >= Self.proof ? .echo : .suspect
    }
}
