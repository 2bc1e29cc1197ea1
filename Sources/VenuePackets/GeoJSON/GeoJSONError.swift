import IndoorVocabulary
import VenueModel

/// Why something of a venue cannot be told in coordinates.
public enum GeoJSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// These maps don't tell how they lie on Earth.
    case notGeoreferenced([MapID])
    /// The georeference of a map is wrong.
    case wrongGeoreference(MapID, GeoreferenceError)
    /// Something lies on a map that the venue does not have; what it is.
    case unknownMap(MapID, String)
    /// A number is not finite, in this thing.
    case invalidNumber(String)

    public var description: String {
        switch self {
        case .notGeoreferenced(let maps):
            let list = maps.map(\.description).joined(separator: ", ")
            return "GeoJSON holds coordinates, and map \(list) has no georeference; give a center and bearing, or "
                + "controlPoints, in venue.json"
        case .wrongGeoreference(let map, let error): return "the georeference of map \(map) is of no use: \(error)"
        case .unknownMap(let map, let thing):
            return "\(thing) is on map \(map), which the venue does not have; give the venue that it belongs to"
        case .invalidNumber(let thing): return "\(thing) has a number that is not finite; correct its place"
        }
    }
}
