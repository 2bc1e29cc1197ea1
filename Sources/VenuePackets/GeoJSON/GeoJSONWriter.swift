import IndoorVocabulary
import VenueModel

/// Writes venues and tracks as GeoJSON (RFC 7946), for QGIS, geojson.io and web maps.
///
///     let bytes = try GeoJSONWriter().document(of: venue)
///
/// A document is one FeatureCollection. Each feature has the properties `kind`, `mapId`, `map` and `level`, so that a
/// viewer can style and filter by them. Coordinates are WGS84 with seven decimals, a centimetre; outer rings run
/// counter-clockwise (section 3.1.6).
public struct GeoJSONWriter: Sendable {
    /// Creates a writer.
    public init() {}

    /// All of a venue: plan outlines (`plan`), where people walk (`walkable`), `wall`, `room`, `fence`, `beacon`,
    /// `poi`, and the path graph (`node`, `path`).
    ///
    /// A circle becomes a polygon of 64 corners and keeps its `radius`; rooms without a shape have no geometry. A path
    /// between two maps has the level of its start, and `toMapId` and `toLevel`; one straight up is a Point.
    /// - Throws: `GeoJSONError` if a map that is needed is not georeferenced.
    public func document(of venue: Venue) throws(GeoJSONError) -> [UInt8] {
        let plans = try GeoJSONPlans(of: venue, needed: venue.maps.map(\.id))
        return Self.collection(try GeoJSONVenue(venue: venue, plans: plans).features(), named: venue.name)
    }

    /// A track: a Point for each position (`position`, with `t`, `radius`, `label` and `course`) and a LineString for
    /// each stay on one map (`track`, with `from` and `to` in seconds); likewise `truth` and `truthTrack`, and
    /// `outdoorPosition` and `outdoorTrack`, which have no map and no level.
    ///
    /// A line ends where there is no position for more than 10 s, or no truth for more than 60 s: what came between is
    /// not known.
    /// - Parameters:
    ///   - positions: where the device was in the venue, in the order of time.
    ///   - outdoorPositions: where it was outside, in the order of time.
    ///   - truth: where the device really was, if that is known, in the order of time.
    /// - Throws: `GeoJSONError` if a map of the track is unknown or not georeferenced.
    public func document(
        of positions: [Position], outdoorPositions: [OutdoorPosition] = [], truth: [GeoJSONPlace] = [], in venue: Venue
    ) throws(GeoJSONError) -> [UInt8] {
        let visited = Set(positions.map(\.mapID))
        let ofTruth = Set(truth.map(\.mapID)).subtracting(visited)
        let plans = try GeoJSONPlans(of: venue, needed: visited.union(ofTruth).sorted(), ofTruth: ofTruth)
        let track = GeoJSONTrack(plans: plans)
        let features =
            try track.features(of: positions) + track.features(ofOutdoor: outdoorPositions)
            + track.features(ofTruth: truth)
        return Self.collection(features, named: venue.name)
    }

    /// Refuses a venue whose tracks cannot be written, wherever they lead, before there is a track.
    ///
    /// - Throws: `GeoJSONError` if no map is georeferenced, or none rightly.
    public func check(_ venue: Venue) throws(GeoJSONError) {
        var failure = GeoJSONError.notGeoreferenced(venue.maps.map(\.id))
        for map in venue.maps {
            do throws(GeoJSONError) {
                _ = try GeoJSONPlans(of: venue, needed: [map.id])
                return
            } catch {
                if case .wrongGeoreference = error { failure = error }
            }
        }
        throw failure
    }

    /// The collection with a feature a line; its type comes first, as readers look for it there.
    private static func collection(_ features: [JSONTree], named name: String) -> [UInt8] {
        var bytes = Array("{\"type\":\"FeatureCollection\",\"name\":".utf8) + JSONTree.string(name).line()
        bytes += Array(",\"features\":[".utf8)
        for (index, feature) in features.enumerated() { bytes += (index == 0 ? [10] : [44, 10]) + feature.line() }
        return bytes + Array("\n]}\n".utf8)
    }
}

/// Where a device was at some instant.
public struct GeoJSONPlace: Hashable, Sendable {
    /// When.
    public var instant: Instant
    /// The map.
    public var mapID: MapID
    /// The point on that map.
    public var point: MapPoint

    /// Creates a place.
    public init(instant: Instant, mapID: MapID, point: MapPoint) {
        self.instant = instant
        self.mapID = mapID
        self.point = point
    }
}
