import IndoorVocabulary
import TagTracking
import TextFormats

/// Positions of a history for other programs, which are written in parts.
package struct HistoryExport: Sendable {
    /// The format of an export.
    package enum Format: Hashable, Sendable {
        /// Comma-separated values (RFC 4180), with a header line.
        case csv
        /// A FeatureCollection (RFC 7946) with a point for each position that has a coordinate.
        case geoJSON
    }

    private let format: Format
    private var hasFeature = false

    /// Creates an export without positions.
    package init(_ format: Format) { self.format = format }

    /// Returns positions in a format.
    package static func document(of positions: [StoredPosition], as format: Format) -> [UInt8] {
        var export = HistoryExport(format)
        return export.start + export.part(positions) + export.end
    }

    /// The bytes before the first position.
    package var start: [UInt8] {
        switch format {
        case .csv: Array("time,tag,name,map,x,y,radius,room,latitude,longitude\n".utf8)
        case .geoJSON: Array(#"{"type":"FeatureCollection","features":["#.utf8)
        }
    }

    /// The bytes after the last position.
    package var end: [UInt8] {
        switch format {
        case .csv: []
        case .geoJSON: Array("]}".utf8)
        }
    }

    /// Returns the bytes of further positions.
    package mutating func part(_ positions: [StoredPosition]) -> [UInt8] {
        switch format {
        case .csv: Self.csv(positions)
        case .geoJSON: geoJSON(positions)
        }
    }

    private static func csv(_ positions: [StoredPosition]) -> [UInt8] {
        func number(_ value: Double?, _ decimals: Int) -> String {
            value.flatMap { FixedDecimals.text($0, decimals) } ?? ""
        }
        var text = ""
        for position in positions {
            let fields = [
                CivilTime(position.instant).text, CSVText.safeField(position.tag),
                CSVText.safeField(position.name ?? ""), "\(position.mapID)",
                number(position.point.x, 3), number(position.point.y, 3), number(position.radius, 3),
                CSVText.safeField(position.room ?? ""), number(position.coordinate?.latitude, 7),
                number(position.coordinate?.longitude, 7),
            ]
            text += fields.joined(separator: ",") + "\n"
        }
        return Array(text.utf8)
    }

    private mutating func geoJSON(_ positions: [StoredPosition]) -> [UInt8] {
        var bytes: [UInt8] = []
        for position in positions {
            guard let coordinate = position.coordinate else { continue }
            if hasFeature { bytes.append(UInt8(ascii: ",")) }
            hasFeature = true
            bytes += JSONWriter.object { json in
                json.add("type", "Feature")
                json.add("geometry", pointAt: coordinate)
                json.name("properties")
                json.beginObject()
                position.writeMembers(to: &json)
                json.endObject()
            }
        }
        return bytes
    }
}

extension StoredPosition {
    /// Writes the position as members of an object.
    func writeMembers(to json: inout JSONWriter) {
        json.add("time", time: instant)
        json.add("tag", tag)
        json.add("name", name)
        json.add("mapId", mapID.rawValue)
        json.add("x", point.x, decimals: 3)
        json.add("y", point.y, decimals: 3)
        json.add("radius", radius, decimals: 3)
        json.add("room", room)
    }
}
