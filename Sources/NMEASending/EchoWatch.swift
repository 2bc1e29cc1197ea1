import IndoorVocabulary

/// The detection of satellite positions that are this session's own positions, returned by gpsd.
///
/// A coordinate in a sentence is rounded to 2 mm. A receiver reports one of the latest own coordinates by chance in about one
/// of a million positions, and several times in succession never. Outdoor positions aren't compared, because they are those
/// of the receiver.
package struct EchoWatch: Sendable {
    /// The outcome for a satellite position.
    package enum Outcome: Hashable, Sendable {
        /// The position isn't an own one.
        case foreign
        /// The position is an own one, possibly by chance: it is to be left out.
        case suspect
        /// The receiver reports own positions.
        case echo
    }

    /// The number of own coordinates that are remembered: a minute of positions, or more.
    private static let memory = 128
    /// The number of satellite positions that are judged together.
    private static let window = 16
    /// The number of own positions among them that prove an echo.
    private static let proof = 3
    /// Half of the last digit of a sentence, and the rounding of gpsd, in degrees.
    private static let tolerance = 2e-8

    private var sent: [Coordinate] = []
    private var matches: [Bool] = []

    package init() {}

    /// Remembers a coordinate that is sent.
    package mutating func send(_ coordinate: Coordinate) {
        if sent.count == Self.memory { sent.removeFirst() }
        sent.append(coordinate)
    }

    /// Judges a satellite position.
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
