import IndoorVocabulary
import TagTracking
import TextFormats

/// Positions of a history for other programs.
package enum HistoryExport {
    /// The format of an export.
    package enum Format: Hashable, Sendable {
        /// Comma-separated values (RFC 4180), with a header line.
        case csv
        /// A FeatureCollection (RFC 7946) with a point for each position that has a coordinate.
        case geoJSON
    }

    /// Returns positions in a format.
    package static func document(of positions: [StoredPosition], as format: Format) -> [UInt8] {
        switch format {
        case .csv: csv(positions)
        case .geoJSON: geoJSON(positions)
        }
    }

    private static func csv(_ positions: [StoredPosition]) -> [UInt8] {
        func number(_ value: Double?, _ decimals: Int) -> String {
            value.flatMap { FixedDecimals.text($0, decimals) } ?? ""
        }
        var text = "time,tag,name,map,x,y,radius,room,latitude,longitude\n"
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

    private static func geoJSON(_ positions: [StoredPosition]) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.add("type", "FeatureCollection")
        json.name("features")
        json.beginArray()
        for position in positions {
            guard let coordinate = position.coordinate else { continue }
            json.beginObject()
            json.add("type", "Feature")
            json.add("geometry", pointAt: coordinate)
            json.name("properties")
            json.beginObject()
            position.writeMembers(to: &json)
            json.endObject()
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.bytes
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
