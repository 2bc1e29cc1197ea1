import IndoorVocabulary
import TextFormats
import VenueModel

/// A writer of venues and tracks as GeoJSON (RFC 7946), for QGIS, geojson.io and web maps.
///
///     let bytes = try GeoJSONWriter().document(of: venue)
///
/// A document is one FeatureCollection. Each feature has the properties `kind`, `mapId`, `map` and `level`, by which a
/// viewer can style and filter. Coordinates are WGS84 with seven decimals, which is a centimetre; outer rings run
/// counter-clockwise (section 3.1.6).
///
/// A venue without georeferences can be written in the frame of its maps, see `Frame.local`.
public struct GeoJSONWriter: Sendable {
    /// The coordinate system of a document.
    public enum Frame: Hashable, Sendable {
        /// WGS84, as RFC 7946 requires. All written maps need a georeference.
        case geographic
        /// Metres on the plan of each map: x to the right and y up, from its lower left corner, with three decimals.
        ///
        /// The maps of several levels lie on each other. The member `coordinateFrame` of the document describes the
        /// frame. RFC 7946 permits other coordinate systems between programs that have agreed on them (section 4);
        /// other programs place the features near latitude 0 and longitude 0.
        case local
    }

    private let frame: Frame

    /// Creates a writer.
    public init(frame: Frame = .geographic) { self.frame = frame }

    /// Returns the document of a venue: plan outlines (`plan`), walkable areas (`walkable`), `wall`, `room`, `fence`,
    /// `beacon`, `poi`, and the path graph (`node`, `path`).
    ///
    /// A circle becomes a polygon of 64 corners and keeps its `radius`; rooms without a shape have no geometry. A path
    /// between two maps has the level of its start, and `toMapId` and `toLevel`; a vertical path is a Point.
    /// - Throws: `GeoJSONError` if a required map is not georeferenced.
    public func document(of venue: Venue) throws(GeoJSONError) -> [UInt8] {
        let plans = try GeoJSONPlans(of: venue, needed: venue.maps.map(\.id), in: frame)
        return collection(try GeoJSONVenue(venue: venue, plans: plans).features(), named: venue.name)
    }

    /// Returns the document of a track.
    ///
    /// It has a Point for each position (`position`, with `t`, `radius`, `label` and `course`) and a LineString for
    /// each stay on one map (`track`, with `from` and `to` in seconds); likewise `truth` and `truthTrack`, and
    /// `outdoorPosition` and `outdoorTrack`, which have no map and no level.
    ///
    /// In the local frame, outdoor positions are left out, because they have no place on a map.
    ///
    /// A line ends where there is no position for more than 10 s, or no ground truth for more than 60 s, because the
    /// route in between is unknown.
    /// - Parameters:
    ///   - positions: the positions in the venue, in order of time.
    ///   - outdoorPositions: the positions outside the venue, in order of time.
    ///   - truth: the ground truth, if it is known, in order of time.
    /// - Throws: `GeoJSONError` if a map of the track is unknown or not georeferenced.
    public func document(
        of positions: [Position], outdoorPositions: [OutdoorPosition] = [], truth: [GeoJSONPlace] = [], in venue: Venue
    ) throws(GeoJSONError) -> [UInt8] {
        let visited = Set(positions.map(\.mapID))
        let ofTruth = Set(truth.map(\.mapID)).subtracting(visited)
        let plans = try GeoJSONPlans(of: venue, needed: visited.union(ofTruth).sorted(), ofTruth: ofTruth, in: frame)
        let track = GeoJSONTrack(plans: plans)
        let features =
            try track.features(of: positions) + track.features(ofOutdoor: frame == .local ? [] : outdoorPositions)
            + track.features(ofTruth: truth)
        return collection(features, named: venue.name)
    }

    /// Checks before a track is recorded that at least one map of the venue can be written. In the local frame, each
    /// can.
    ///
    /// - Throws: `GeoJSONError` if no map has a valid georeference.
    package func check(_ venue: Venue) throws(GeoJSONError) {
        guard frame == .geographic else { return }
        var failure = GeoJSONError.notGeoreferenced(venue.maps.map(\.id))
        for map in venue.maps {
            do throws(GeoJSONError) {
                _ = try GeoJSONPlans(of: venue, needed: [map.id], in: frame)
                return
            } catch {
                if case .wrongGeoreference = error { failure = error }
            }
        }
        throw failure
    }

    /// The member of a document that describes its frame; RFC 7946 has none.
    static let frameMember = "coordinateFrame"
    private static let localFrame = JSONTree.object([
        "type": .string("local"), "unit": .string("metre"),
        "origin": .string("lower left corner of the plan of each map"),
    ])

    /// Returns the collection with one feature per line; the type comes first, where readers expect it.
    private func collection(_ features: [JSONTree], named name: String) -> [UInt8] {
        var bytes = Array("{\"type\":\"FeatureCollection\",\"name\":".utf8) + JSONTree.string(name).line()
        if frame == .local { bytes += Array(",\"\(Self.frameMember)\":".utf8) + Self.localFrame.line() }
        bytes += Array(",\"features\":[".utf8)
        for (index, feature) in features.enumerated() { bytes += (index == 0 ? [10] : [44, 10]) + feature.line() }
        return bytes + Array("\n]}\n".utf8)
    }
}

/// A position of a device at a point in time.
public struct GeoJSONPlace: Hashable, Sendable {
    /// The time.
    package var instant: Instant
    /// The map.
    package var mapID: MapID
    /// The point on that map.
    package var point: MapPoint

    /// Creates a place.
    public init(instant: Instant, mapID: MapID, point: MapPoint) {
        self.instant = instant
        self.mapID = mapID
        self.point = point
    }
}

/// An error in converting a venue or track to GeoJSON.
public enum GeoJSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// These maps have no georeference.
    case notGeoreferenced([MapID])
    /// The georeference of a map is invalid.
    case wrongGeoreference(MapID, GeoreferenceError)
    /// The map of the named object is not in the venue.
    case unknownMap(MapID, String)
    /// The named object has a number that is not finite.
    case invalidNumber(String)

    public var description: String {
        switch self {
        case .notGeoreferenced(let maps):
            let list = maps.map(\.description).joined(separator: ", ")
            return "GeoJSON requires coordinates, but map \(list) has no georeference; give a center and bearing, or "
                + "controlPoints, in venue.json, or write the local frame (--local-frame)"
        case .wrongGeoreference(let map, let error): return "the georeference of map \(map) is invalid: \(error)"
        case .unknownMap(let map, let thing):
            return "\(thing) is on map \(map), which the venue does not have; give the venue that it belongs to"
        case .invalidNumber(let thing): return "\(thing) has a number that is not finite; correct its position"
        }
    }
}
