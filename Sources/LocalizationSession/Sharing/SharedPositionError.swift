import IndoorVocabulary

/// The reason that a position can't be shared.
public enum SharedPositionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the room is invalid.
    case badRoom(SharingNameError)
    /// A number is NaN or out of range. The field has the same name as in `SharedPosition` and `Coordinate`.
    case outOfRange(field: String, value: Double)

    public var description: String {
        switch self {
        case .badRoom(let error): "\(error)"
        case .outOfRange(let field, let value):
            "\(field) is \(value), which is out of range: give \(Self.range(of: field))"
        }
    }

    private static func range(of field: String) -> String {
        switch field {
        case "radius": "metres from 0 on"
        case "latitude": "degrees in [-90, 90]"
        case "longitude": "degrees in [-180, 180]"
        case "course": "degrees in [0, 360), or none"
        case "sentAt": "seconds since 1970"
        default: "metres on the plan"
        }
    }
}

extension SharedPosition {
    /// The problem with the room name or a number that prevents sharing; nil if there is none.
    public var problem: SharedPositionError? {
        if let error = SharingNameError(of: room) { return .badRoom(error) }
        var numbers: [(field: String, value: Double, isRight: Bool)] = [
            ("x", x, x.isFinite), ("y", y, y.isFinite), ("radius", radius, radius.isFinite && radius >= 0),
            ("sentAt", sentAt, sentAt.isFinite),
        ]
        if let coordinate {
            numbers.append(("latitude", coordinate.latitude, (-90...90).contains(coordinate.latitude)))
            numbers.append(("longitude", coordinate.longitude, (-180...180).contains(coordinate.longitude)))
        }
        if let course { numbers.append(("course", course, course >= 0 && course < 360)) }
        return numbers.first { !$0.isRight }.map { .outOfRange(field: $0.field, value: $0.value) }
    }
}
