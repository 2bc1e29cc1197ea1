import IndoorLocalization

/// The reason a walk cannot be simulated.
public enum SimulationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The walk document is not JSON, or a field is missing or has the wrong type.
    case malformedDocument(field: String, reason: String)
    /// The document has another format or a newer version.
    case unsupportedFormat(String)
    /// The path has no points.
    case noPoints
    /// A number is not finite or is outside its range.
    case outOfRange(field: String, value: Double, allowed: String)
    /// A point is on a map that the venue doesn't have.
    case unknownMap(MapID, field: String)
    /// A point is outdoors, but its map has no georeference.
    case noGeoreference(MapID, field: String)
    /// The walk would produce more readings than the limit, or last longer than a day.
    case tooLong(hours: Double, readings: Double)
    /// No setting has that name.
    case unknownSetting(String)
    /// The setting requires another type of value.
    case wrongKindOfSetting(String, expected: String)

    /// The field, the problem and its remedy.
    public var description: String {
        switch self {
        case .malformedDocument(let field, let reason): "\(field): \(reason). Correct the walk document."
        case .unsupportedFormat(let text):
            "\(text) is not a walk document: it requires format \"\(WalkScript.format)\", version 1."
        case .noPoints: "points: the path has no points. Add at least one."
        case .outOfRange(let field, let value, let allowed): "\(field): is \(value); expected \(allowed)."
        case .unknownMap(let id, let field): "\(field): the venue has no map \(id). Use the id of one of its maps."
        case .noGeoreference(let id, let field):
            "\(field): is outdoors, but map \(id) has no usable georeference. Add one to the venue, or stay indoors."
        case .tooLong(let hours, let readings):
            "points: the walk takes \((hours * 10).rounded() / 10) h and has \(Int(min(readings, 1e15))) readings; "
                + "at most \(Int(WalkSimulator.longestWalk / 3600)) h "
                + "and \(Int(WalkSimulator.mostReadings)) are allowed. "
                + "Shorten the walk, increase its speed, or reduce the rates of sensors and beacons."
        case .unknownSetting(let name):
            "settings.\(name): no such setting"
                + (EditDistance.nearestKey(to: name, among: SimulationSettings.names).map { "; did you mean \($0)?" }
                    ?? ". The settings are: \(SimulationSettings.names.joined(separator: ", ")).")
        case .wrongKindOfSetting(let name, let expected): "settings.\(name): is not \(expected)."
        }
    }
}
