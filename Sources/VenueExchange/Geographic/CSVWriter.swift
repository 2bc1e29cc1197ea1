import IndoorVocabulary
import TextFormats
import VenueModel
import VenuePackets

/// A writer of walks as comma-separated values (RFC 4180), with a header line. It needs no georeference.
///
/// A text that begins with `=`, `+`, `-` or `@` gets an apostrophe before it, because spreadsheet programs would run it
/// as a formula. Control characters in names become spaces.
///
/// Source: Y. Shafranovich, *Common Format and MIME Type for Comma-Separated Values (CSV) Files*, RFC 4180, 2005; the
/// apostrophe: OWASP, *CSV Injection*.
public struct CSVWriter: Sendable {
    /// The names of the columns.
    package static let columns = [
        "time", "t", "kind", "venueId", "mapId", "map", "level", "x", "y", "radius", "latitude", "longitude",
        "altitude",
        "room", "course", "speed", "floorCertainty",
    ]

    /// Creates a writer.
    public init() {}

    /// Returns the document of a walk, with a line for each position.
    public func document(of walk: Walk) -> [UInt8] {
        var text = Self.line(Self.columns)
        for place in walk.places {
            let start = [walk.time(of: place.instant) ?? "", Self.number(place.instant.seconds, 3)]
            switch place {
            case .indoors(let position): text += Self.line(start + Self.fields(of: position, in: walk.venue))
            case .outdoors(let position): text += Self.line(start + Self.fields(of: position))
            }
        }
        return Array(text.utf8)
    }

    private static func fields(of position: Position, in venue: Venue) -> [String] {
        let map = venue.map(position.mapID)
        return [
            "position", "\(position.venueID)", "\(position.mapID)", CSVText.safeField(map?.name ?? ""),
            map.map { "\($0.level)" } ?? "",
            number(position.x, 3), number(position.y, 3), number(position.radius, 3),
            position.coordinate?.texts.latitude ?? "", position.coordinate?.texts.longitude ?? "", "",
            CSVText.safeField(position.label ?? ""), number(position.course, 1), number(position.speed, 2),
            number(position.floorCertainty, 3),
        ]
    }

    private static func fields(of position: OutdoorPosition) -> [String] {
        let place = position.coordinate.texts
        return [
            "outdoorPosition", "", "", "", "", "", "", number(position.radius, 3), place.latitude, place.longitude,
            number(position.altitude, 2), "", number(position.course, 1), number(position.speed, 2), "",
        ]
    }

    private static func number(_ value: Double?, _ decimals: Int) -> String {
        value.flatMap { FixedDecimals.text($0, decimals) } ?? ""
    }

    /// Returns a line with the line end CR LF.
    private static func line(_ fields: [String]) -> String { fields.joined(separator: ",") + "\r\n" }
}
