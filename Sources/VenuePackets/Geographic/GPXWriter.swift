import IndoorVocabulary
import TextFormats
import VenueModel

/// A writer of walks as GPX 1.1, which most programs for maps and tracks read.
///
/// Each stay on one map, or outdoors, is a track with one segment; its name is that of the map. A point has the time,
/// the room as its description, and HDOP: the 68 % radius divided by 19 m. Positions on maps without a georeference are
/// left out.
///
/// Source: *GPX 1.1 Schema Documentation*, TopoGrafix, 2004.
public struct GPXWriter: Sendable {
    /// Creates a writer.
    public init() {}

    /// Returns the document of a walk.
    public func document(of walk: Walk) -> [UInt8] {
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            #"<gpx version="1.1" creator="IndoorLocalization" xmlns="http://www.topografix.com/GPX/1/1">"#,
            "<metadata><name>\(XMLText.escaped(walk.venue.name))</name></metadata>",
        ]
        for stay in walk.stays {
            lines.append("<trk><name>\(XMLText.escaped(stay.name))</name><trkseg>")
            for point in stay.points { lines.append(Self.point(point, in: walk)) }
            lines.append("</trkseg></trk>")
        }
        lines.append("</gpx>\n")
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// Returns a point, with its children in the order of the schema.
    private static func point(_ point: WalkStay.Point, in walk: Walk) -> String {
        let place = point.coordinate.texts
        var text = #"<trkpt lat="\#(place.latitude)" lon="\#(place.longitude)">"#
        if let time = walk.time(of: point.place.instant) { text += "<time>\(time)</time>" }
        if let label = point.place.label { text += "<desc>\(XMLText.escaped(label))</desc>" }
        if let dilution = FixedDecimals.text(HorizontalDilution.ofRadius(point.place.radius), 3) {
            text += "<hdop>\(dilution)</hdop>"
        }
        return text + "</trkpt>"
    }
}
