import FoundationEssentials
import IndoorLocalization

/// A walk in a JSON document: the path, and the settings that differ from the defaults.
///
///     {
///       "format": "indoor-localization-walk", "version": 1, "name": "to the kitchen", "speed": 1.2,
///       "points": [
///         {"mapId": 1, "x": 3, "y": 4, "pause": 5, "heading": 90},
///         {"mapId": 1, "x": 9, "y": 4},
///         {"mapId": 2, "x": 9, "y": 7, "by": "stairs", "seconds": 14},
///         {"mapId": 2, "x": -5, "y": 7, "outdoors": true, "speed": 1.4}
///       ],
///       "settings": {"radio.wallLoss": 5, "sensors.reportsSteps": true}
///     }
///
/// Only `format`, `version`, `points` and their `mapId`, `x` and `y` are required. Unknown fields are ignored; unknown
/// settings are errors.
public struct WalkScript: Hashable, Sendable {
    /// The value of the `format` field.
    package static let format = "indoor-localization-walk"

    /// The path of the walk.
    public var path: WalkPath
    /// The settings of the simulation.
    public var settings: SimulationSettings

    /// Creates a walk from its parts.
    public init(path: WalkPath, settings: SimulationSettings = SimulationSettings()) {
        self.path = path
        self.settings = settings
    }

    /// Reads a walk document.
    ///
    /// - Throws: `SimulationError` with the invalid field.
    public init(json: some Sequence<UInt8>) throws(SimulationError) {
        let document: Document
        do {
            document = try JSONDecoder().decode(Document.self, from: Data(json))
        } catch let error as DecodingError {
            throw .malformedDocument(error)
        } catch {
            throw .malformedDocument(field: "$", reason: "\(error)")
        }
        guard document.format == Self.format, document.version == 1 else {
            throw .unsupportedFormat("\"\(document.format)\", version \(document.version),")
        }
        path = try document.path()
        settings = SimulationSettings()
        for (name, setting) in (document.settings ?? [:]).sorted(by: { $0.key < $1.key }) {
            try settings.set(name, to: setting.value)
        }
    }
}

/// The fields of the document, unchecked.
private struct Document: Decodable {
    struct Point: Decodable {
        var mapId: Int
        var x: Double
        var y: Double
        var pause: Double?
        var heading: Double?
        var seconds: Double?
        var speed: Double?
        var outdoors: Bool?
        var by: String?
    }

    struct Setting: Decodable {
        let value: SimulationSettings.Value

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                value = .flag(flag)
            } else {
                value = .number(try container.decode(Double.self))
            }
        }
    }

    var format: String
    var version: Int
    var name: String?
    var speed: Double?
    var points: [Point]
    var settings: [String: Setting]?

    func path() throws(SimulationError) -> WalkPath {
        var path = WalkPath(name: name, speed: speed ?? WalkPath.usualSpeed, points: [])
        for (index, point) in points.enumerated() {
            var change = WalkPath.FloorChange.stairs
            if let by = point.by {
                guard let known = WalkPath.FloorChange(rawValue: by) else {
                    throw .malformedDocument(
                        field: "$.points[\(index)].by", reason: "is \"\(by)\"; expected \"stairs\" or \"elevator\"")
                }
                change = known
            }
            path.points.append(
                WalkPath.Point(
                    mapID: MapID(rawValue: point.mapId), point: MapPoint(x: point.x, y: point.y),
                    pause: point.pause ?? 0, heading: point.heading, seconds: point.seconds, speed: point.speed,
                    isOutdoors: point.outdoors ?? false, floorChange: change))
        }
        return path
    }
}

extension SimulationError {
    /// Returns the decoder's error with the path of the field.
    fileprivate static func malformedDocument(_ error: DecodingError) -> SimulationError {
        let (context, missing): (DecodingError.Context, (any CodingKey)?) =
            switch error {
            case .keyNotFound(let key, let context): (context, key)
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                (context, nil)
            @unknown default: (DecodingError.Context(codingPath: [], debugDescription: "\(error)"), nil)
            }
        var field = "$"
        for key in context.codingPath + (missing.map { [$0] } ?? []) {
            if let index = key.intValue { field += "[\(index)]" } else { field += "." + key.stringValue }
        }
        return .malformedDocument(field: field, reason: missing == nil ? context.debugDescription : "is missing")
    }
}
