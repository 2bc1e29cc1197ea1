import IndoorLocalization

/// Why a walk cannot be simulated.
public enum SimulationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The walk's document is no JSON, or a field of it is missing or of the wrong kind.
    case malformedDocument(field: String, reason: String)
    /// The document is of another format or of a newer version.
    case unsupportedFormat(String)
    /// The path has no points.
    case noPoints
    /// A number is not finite or out of its range.
    case outOfRange(field: String, value: Double, allowed: String)
    /// A point lies on a map that the venue doesn't have.
    case unknownMap(MapID, field: String)
    /// A point is outdoors, but nobody knows where its map lies on Earth.
    case noGeoreference(MapID, field: String)
    /// The walk would give more readings than a recording is made of, or last longer than a day.
    case tooLong(hours: Double, readings: Double)
    /// There is no setting of that name.
    case unknownSetting(String)
    /// The setting is another kind of value.
    case wrongKindOfSetting(String, expected: String)

    /// Field, what is wrong with it, and what to do.
    public var description: String {
        switch self {
        case .malformedDocument(let field, let reason): "\(field): \(reason). Correct the walk's document."
        case .unsupportedFormat(let text):
            "\(text) is not the document of a walk: it needs format \"\(WalkScript.format)\", version 1."
        case .noPoints: "points: the path has none. Give at least one."
        case .outOfRange(let field, let value, let allowed): "\(field): is \(value), allowed is \(allowed)."
        case .unknownMap(let id, let field): "\(field): the venue has no map \(id). Take an id of its maps."
        case .noGeoreference(let id, let field):
            "\(field): is outdoors, but map \(id) has no usable georeference. Add one to the venue, or stay inside."
        case .tooLong(let hours, let readings):
            "points: the walk takes \((hours * 10).rounded() / 10) h and gives \(Int(min(readings, 1e15))) readings; at most "
                + "\(Int(WalkSimulator.longestWalk / 3600)) h and \(Int(WalkSimulator.mostReadings)) are simulated. "
                + "Walk a shorter way, or faster, or make the sensors and beacons slower."
        case .unknownSetting(let name):
            "settings.\(name): there is no such setting"
                + (EditDistance.nearestKey(to: name, among: SimulationSettings.names).map { "; did you mean \($0)?" }
                    ?? ". There are: \(SimulationSettings.names.joined(separator: ", ")).")
        case .wrongKindOfSetting(let name, let expected): "settings.\(name): is not \(expected)."
        }
    }
}
