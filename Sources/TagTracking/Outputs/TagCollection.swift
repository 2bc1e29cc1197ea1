import IndoorVocabulary
import TextFormats
import VenueModel

/// The tags of a fleet as GeoJSON (RFC 7946): one FeatureCollection with a Point for each tag.
///
/// GeoJSON can't represent a place without coordinates. Tags on maps that aren't georeferenced, and tags without a
/// position, are therefore left out and counted in the member `omitted`.
package struct TagCollection: Sendable {
    /// The document in UTF-8.
    package private(set) var bytes: [UInt8]
    /// The number of features.
    package private(set) var count = 0
    /// The number of tags without coordinates.
    package private(set) var omitted = 0

    /// Creates a collection.
    ///
    /// - Parameter tags: the states of the tags; the features are in the same order.
    package init(_ tags: some Sequence<LatestOutput>) {
        var json = JSONWriter()
        json.beginObject()
        json.add("type", "FeatureCollection")
        json.name("features")
        json.beginArray()
        for tag in tags {
            guard let position = tag.position, let coordinate = position.coordinate else {
                omitted += 1
                continue
            }
            count += 1
            Self.write(tag, position, at: coordinate, to: &json)
        }
        json.endArray()
        json.add("omitted", omitted)
        json.endObject()
        bytes = json.bytes
    }

    private static func write(
        _ tag: LatestOutput, _ position: Position, at coordinate: Coordinate, to json: inout JSONWriter
    ) {
        json.beginObject()
        json.add("type", "Feature")
        json.add("id", tag.tag.description)
        json.name("geometry")
        json.beginObject()
        json.add("type", "Point")
        json.name("coordinates")
        json.beginArray()
        // Longitude first; seven decimals are a centimetre.
        json.value(coordinate.longitude, decimals: 7)
        json.value(coordinate.latitude, decimals: 7)
        json.endArray()
        json.endObject()
        json.name("properties")
        json.beginObject()
        json.add("tag", tag.tag.description)
        json.add("name", tag.name)
        json.add("present", tag.isPresent)
        json.add("time", time: position.instant)
        json.add("venueId", position.venueID.rawValue)
        json.add("mapId", position.mapID.rawValue)
        json.add("x", position.x, decimals: 3)
        json.add("y", position.y, decimals: 3)
        json.add("radius", position.radius, decimals: 3)
        json.add("label", position.label)
        json.add("course", position.course, decimals: 1)
        json.add("speed", position.speed, decimals: 2)
        json.endObject()
        json.endObject()
    }
}
