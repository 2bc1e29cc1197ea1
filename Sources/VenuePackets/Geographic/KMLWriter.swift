import IndoorVocabulary
import TextFormats
import VenueModel

/// A writer of walks as KML 2.2, for Google Earth, Marble and QGIS.
///
/// Each stay on one map, or outdoors, is a placemark with the name of the map: a `gx:Track` if the times are known, and
/// otherwise a line, or a point for a single position. Positions on maps without a georeference are left out. All
/// positions are drawn on the ground.
///
/// Source: *OGC KML*, version 2.2.0, OGC 07-147r2, 2008; `gx:Track`: *OGC KML 2.3*, OGC 12-007r2, 2015, section 12.
public struct KMLWriter: Sendable {
    /// Creates a writer.
    public init() {}

    /// Returns the document of a walk.
    public func document(of walk: Walk) -> [UInt8] {
        let spaces = #"xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2""#
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#, "<kml \(spaces)>",
            "<Document><name>\(XMLText.escaped(walk.venue.name))</name>",
        ]
        for stay in walk.stays {
            lines.append("<Placemark><name>\(XMLText.escaped(stay.name))</name>")
            if let map = stay.map { lines.append("<description>level \(map.level)</description>") }
            lines += Self.geometry(of: stay, in: walk)
            lines.append("</Placemark>")
        }
        lines.append("</Document></kml>\n")
        return Array(lines.joined(separator: "\n").utf8)
    }

    private static func geometry(of stay: WalkStay, in walk: Walk) -> [String] {
        let places = stay.points.map(\.coordinate.texts)
        let times = stay.points.compactMap { walk.time(of: $0.place.instant) }
        if times.count == places.count {
            return ["<gx:Track>"] + times.map { "<when>\($0)</when>" }
                + places.map { "<gx:coord>\($0.longitude) \($0.latitude) 0</gx:coord>" } + ["</gx:Track>"]
        }
        let type = places.count == 1 ? "Point" : "LineString"
        return ["<\(type)><coordinates>"] + places.map { "\($0.longitude),\($0.latitude)" } + [
            "</coordinates></\(type)>"
        ]
    }
}
