import Glibc
import IndoorVocabulary
import TextFormats
import VenueModel
import VenuePackets

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

/// The maps of a venue with their transforms, which create the features on them.
struct GeoJSONPlans {
    private struct Plan {
        let map: VenueMap
        /// Nil in the local frame.
        let transform: GeoTransform?
    }

    private let plans: [MapID: Plan]
    let frame: GeoJSONWriter.Frame

    /// - Parameters:
    ///   - needed: the maps of the features to write.
    ///   - truth: the maps that only the ground truth uses.
    init(
        of venue: Venue, needed: [MapID], ofTruth truth: Set<MapID> = [], in frame: GeoJSONWriter.Frame
    ) throws(GeoJSONError) {
        var plans: [MapID: Plan] = [:]
        var missing: [MapID] = []
        for id in needed {
            guard let map = venue.map(id) else {
                throw .unknownMap(id, truth.contains(id) ? "the ground truth" : "the track")
            }
            guard frame == .geographic else {
                plans[id] = Plan(map: map, transform: nil)
                continue
            }
            do throws(GeoreferenceError) {
                if let transform = try map.geoTransform() {
                    plans[id] = Plan(map: map, transform: transform)
                } else {
                    missing.append(id)
                }
            } catch {
                throw .wrongGeoreference(id, error)
            }
        }
        guard missing.isEmpty else { throw .notGeoreferenced(missing) }
        self.plans = plans
        self.frame = frame
    }

    /// Returns a position: longitude and latitude with seven decimals.
    func position(_ point: MapPoint, on map: MapID, of thing: String) throws(GeoJSONError) -> JSONTree {
        let coordinate = try coordinate(point, on: map, of: thing)
        return .array([.number(coordinate.longitude), .number(coordinate.latitude)])
    }

    static func position(_ coordinate: Coordinate) -> JSONTree {
        .array([.number(decimals(coordinate.longitude)), .number(decimals(coordinate.latitude))])
    }

    private static func decimals(_ degrees: Double) -> Double { (degrees * 1e7).rounded() / 1e7 }

    /// Returns metres with three decimals; zero has no sign.
    private static func metres(_ value: Double) -> Double { (value * 1e3).rounded() / 1e3 + 0 }

    /// Returns latitude and longitude, rounded; in the local frame, y and x instead.
    private func coordinate(_ point: MapPoint, on map: MapID, of thing: String) throws(GeoJSONError) -> Coordinate {
        guard let plan = plans[map] else { throw .unknownMap(map, thing) }
        guard point.x.isFinite, point.y.isFinite else { throw .invalidNumber(thing) }
        guard let transform = plan.transform else {
            return Coordinate(latitude: Self.metres(plan.map.height - point.y), longitude: Self.metres(point.x))
        }
        let coordinate = transform.coordinate(at: point)
        return Coordinate(
            latitude: Self.decimals(coordinate.latitude), longitude: Self.decimals(coordinate.longitude))
    }

    func positions(_ points: [MapPoint], on map: MapID, of thing: String) throws(GeoJSONError) -> [JSONTree] {
        var positions: [JSONTree] = []
        for point in points { positions.append(try position(point, on: map, of: thing)) }
        return positions
    }

    func pointGeometry(_ point: MapPoint, on map: MapID, of thing: String) throws(GeoJSONError) -> JSONTree {
        Self.geometry("Point", try position(point, on: map, of: thing))
    }

    func lineGeometry(_ points: [MapPoint], on map: MapID, of thing: String) throws(GeoJSONError) -> JSONTree {
        Self.geometry("LineString", .array(try positions(points, on: map, of: thing)))
    }

    /// Returns a polygon without holes: closed, and counter-clockwise on Earth.
    func polygonGeometry(_ corners: [MapPoint], on map: MapID, of thing: String) throws(GeoJSONError) -> JSONTree {
        var ring: [Coordinate] = []
        for corner in corners { ring.append(try coordinate(corner, on: map, of: thing)) }
        if let first = ring.first, ring.last == first, ring.count > 1 { ring.removeLast() }
        if Self.turns(ring) < 0 { ring.reverse() }
        ring += ring.prefix(1)
        return Self.geometry(
            "Polygon", .array([.array(ring.map { .array([.number($0.longitude), .number($0.latitude)]) })]))
    }

    static func geometry(_ type: String, _ coordinates: JSONTree) -> JSONTree {
        .object(["type": .string(type), "coordinates": coordinates])
    }

    /// Returns a positive number for a counter-clockwise ring: the shoelace formula, relative to its first corner.
    private static func turns(_ ring: [Coordinate]) -> Double {
        guard let origin = ring.first, var previous = ring.last else { return 0 }
        var twice = 0.0
        for corner in ring {
            twice += (previous.longitude - origin.longitude) * (corner.latitude - origin.latitude)
            twice -= (corner.longitude - origin.longitude) * (previous.latitude - origin.latitude)
            previous = corner
        }
        return twice
    }

    /// Returns a feature with the common properties; properties without a value are omitted.
    func feature(
        _ kind: String, id: String? = nil, on map: MapID, _ geometry: JSONTree, _ properties: [String: JSONTree?] = [:]
    ) -> JSONTree {
        var all = properties
        all["mapId"] = .number(Double(map.rawValue))
        if let plan = plans[map]?.map {
            all["map"] = .string(plan.name)
            all["level"] = .number(Double(plan.level))
        }
        return Self.feature(kind, id: id, geometry, all)
    }

    /// Returns a feature without a map.
    static func feature(
        _ kind: String, id: String? = nil, _ geometry: JSONTree, _ properties: [String: JSONTree?]
    ) -> JSONTree {
        var all = properties.compactMapValues(\.self)
        all["kind"] = .string(kind)
        var fields: [String: JSONTree] = [
            "type": .string("Feature"), "geometry": geometry, "properties": .object(all),
        ]
        if let id { fields["id"] = .string(id) }
        return .object(fields)
    }

    /// Returns the level of a map.
    func level(of map: MapID) -> JSONTree? { plans[map].map { .number(Double($0.map.level)) } }
}

/// Creates the features of a venue.
struct GeoJSONVenue {
    let venue: Venue
    let plans: GeoJSONPlans

    /// The corners of a circle; the largest error is 0.5 % of the radius.
    private static let corners = 64

    func features() throws(GeoJSONError) -> [JSONTree] {
        var features: [JSONTree] = []
        for map in venue.maps { features += try self.features(of: map) }
        for room in venue.rooms { features.append(try feature(of: room)) }
        for fence in venue.fences { features.append(try feature(of: fence)) }
        for beacon in venue.beacons { features.append(try feature(of: beacon)) }
        for receiver in venue.receivers { features.append(try feature(of: receiver)) }
        for point in venue.pointsOfInterest { features.append(try feature(of: point)) }
        if let paths = venue.paths { features += try self.features(of: paths) }
        return features
    }

    private static func seconds(_ duration: Duration) -> JSONTree { .number(Double(duration.nanoseconds) / 1e9) }

    private static func number(_ id: Int) -> JSONTree { .number(Double(id)) }

    private func features(of map: VenueMap) throws(GeoJSONError) -> [JSONTree] {
        let corners = [
            MapPoint(x: 0, y: map.height), MapPoint(x: map.width, y: map.height), MapPoint(x: map.width, y: 0),
            MapPoint(x: 0, y: 0),
        ]
        let thing = "map \(map.id)"
        var features = [
            plans.feature(
                "plan", id: "plan-\(map.id)", on: map.id,
                try plans.polygonGeometry(corners, on: map.id, of: thing),
                [
                    "name": .string(map.name), "widthMeters": .number(map.width), "heightMeters": .number(map.height),
                    "elevation": map.elevation.map(JSONTree.number),
                ])
        ]
        for (index, polygon) in map.walkable.enumerated() {
            let geometry = try plans.polygonGeometry(polygon, on: map.id, of: thing)
            features.append(plans.feature("walkable", id: "walkable-\(map.id)-\(index)", on: map.id, geometry))
        }
        for (index, wall) in map.walls.enumerated() where wall.count >= 2 {
            let geometry = try plans.lineGeometry(wall, on: map.id, of: thing)
            features.append(plans.feature("wall", id: "wall-\(map.id)-\(index)", on: map.id, geometry))
        }
        return features
    }

    // MARK: Areas

    private func geometry(of area: Area, on map: MapID, _ thing: String) throws(GeoJSONError) -> JSONTree {
        switch area {
        case .polygon(let corners): return try plans.polygonGeometry(corners, on: map, of: thing)
        case .circle(let center, let radius):
            let corners = (0..<Self.corners).map { index in
                let angle = 2 * Double.pi * Double(index) / Double(Self.corners)
                return MapPoint(x: center.x + radius * cos(angle), y: center.y + radius * sin(angle))
            }
            return try plans.polygonGeometry(corners, on: map, of: thing)
        }
    }

    private func radius(of area: Area?) -> JSONTree? {
        if case .circle(_, let radius)? = area { .number(radius) } else { nil }
    }

    private func feature(of room: Room) throws(GeoJSONError) -> JSONTree {
        var geometry = JSONTree.null
        if let area = room.area { geometry = try self.geometry(of: area, on: room.mapID, "room \(room.id)") }
        return plans.feature(
            "room", id: "room-\(room.id)", on: room.mapID, geometry,
            ["id": Self.number(room.id), "name": .string(room.name), "radius": radius(of: room.area)])
    }

    private func feature(of fence: Fence) throws(GeoJSONError) -> JSONTree {
        let geometry = try geometry(of: fence.area, on: fence.mapID, "fence \(fence.id)")
        return plans.feature(
            "fence", id: "fence-\(fence.id)", on: fence.mapID, geometry,
            [
                "id": Self.number(fence.id), "name": .string(fence.name), "radius": radius(of: fence.area),
                "timeout": fence.timeout.map(Self.seconds), "exitDelay": fence.exitDelay.map(Self.seconds),
                "exitMargin": fence.exitMargin.map(JSONTree.number),
                "payload": fence.payload.map { JSONTree($0) },
            ])
    }

    // MARK: Points

    private func feature(of beacon: VenueBeacon) throws(GeoJSONError) -> JSONTree {
        let (identity, naming) = (beacon.identity, beacon.validNaming)
        let (isUUID, isEddystone) = (naming == .uuid, naming == .eddystoneUID)
        let name = "\(identity.uuid) \(identity.major) \(identity.minor)"
        let geometry = try plans.pointGeometry(beacon.point, on: beacon.mapID, of: "beacon \(name)")
        return plans.feature(
            "beacon", id: "beacon-\(identity.uuid)-\(identity.major)-\(identity.minor)", on: beacon.mapID, geometry,
            [
                "name": .string(isUUID ? "\(identity.major) / \(identity.minor)" : beacon.name),
                "uuid": .string(identity.uuid.description),
                "major": Self.number(Int(identity.major)), "minor": Self.number(Int(identity.minor)),
                "namespace": isEddystone ? identity.eddystoneNamespace.map(JSONTree.string) : nil,
                "instance": isEddystone ? identity.eddystoneInstance.map(JSONTree.string) : nil,
                "altBeaconId": naming == .altBeacon ? .string(identity.altBeaconID) : nil,
                "address": beacon.address.map { .string($0.description) }, "z": beacon.z.map(JSONTree.number),
                "measuredPower": beacon.measuredPower.map(JSONTree.number),
                "pathLossExponent": beacon.pathLossExponent.map(JSONTree.number),
            ])
    }

    private func feature(of receiver: VenueReceiver) throws(GeoJSONError) -> JSONTree {
        let geometry = try plans.pointGeometry(receiver.point, on: receiver.mapID, of: "receiver \(receiver.id)")
        return plans.feature(
            "receiver", id: "receiver-\(receiver.id)", on: receiver.mapID, geometry,
            [
                "name": .string(receiver.id),
                "aliases": receiver.aliases.isEmpty ? nil : .array(receiver.aliases.map(JSONTree.string)),
                "z": receiver.z.map(JSONTree.number),
                "measuredPower": receiver.measuredPower.map(JSONTree.number),
                "pathLossExponent": receiver.pathLossExponent.map(JSONTree.number),
            ])
    }

    private func feature(of point: PointOfInterest) throws(GeoJSONError) -> JSONTree {
        let geometry = try plans.pointGeometry(point.point, on: point.mapID, of: "point of interest \(point.id)")
        return plans.feature(
            "poi", id: "poi-\(point.id)", on: point.mapID, geometry,
            [
                "id": Self.number(point.id), "name": .string(point.name),
                "description": point.description.map(JSONTree.string), "payload": point.payload.map { JSONTree($0) },
            ])
    }

    // MARK: Paths

    private func features(of graph: PathGraph) throws(GeoJSONError) -> [JSONTree] {
        let nodes = Dictionary(graph.nodes.map { ($0.id, $0) }) { first, _ in first }
        var features: [JSONTree] = []
        for node in graph.nodes {
            let geometry = try plans.pointGeometry(node.point, on: node.mapID, of: "node \(node.id)")
            features.append(
                plans.feature("node", id: "node-\(node.id)", on: node.mapID, geometry, ["id": Self.number(node.id)]))
        }
        for (index, edge) in graph.edges.enumerated() {
            guard let from = nodes[edge.from], let to = nodes[edge.to] else { continue }
            let ends = [
                try plans.position(from.point, on: from.mapID, of: "node \(from.id)"),
                try plans.position(to.point, on: to.mapID, of: "node \(to.id)"),
            ]
            let changesMap = from.mapID != to.mapID
            // A vertical path is a point, because most readers reject a line without length.
            let geometry =
                ends[0] == ends[1]
                ? GeoJSONPlans.geometry("Point", ends[0]) : GeoJSONPlans.geometry("LineString", .array(ends))
            features.append(
                plans.feature(
                    "path", id: "path-\(index)", on: from.mapID, geometry,
                    [
                        "from": Self.number(edge.from), "to": Self.number(edge.to), "way": .string(edge.kind.rawValue),
                        "oneWay": .bool(edge.isOneWay), "weight": edge.weight.map(JSONTree.number),
                        "toMapId": changesMap ? Self.number(to.mapID.rawValue) : nil,
                        "toLevel": changesMap ? plans.level(of: to.mapID) : nil,
                    ]))
        }
        return features
    }
}

/// Creates the features of a track.
struct GeoJSONTrack {
    let plans: GeoJSONPlans

    /// The time in seconds without a position after which a line ends, because the route in between is unknown.
    static let longestSilence = 10.0
    /// The same for the ground truth, which often consists of waypoints only.
    static let longestSilenceOfTruth = 60.0

    func features(of positions: [Position]) throws(GeoJSONError) -> [JSONTree] {
        var features: [JSONTree] = []
        for position in positions {
            let geometry = try plans.pointGeometry(position.point, on: position.mapID, of: "a position")
            features.append(
                plans.feature(
                    "position", on: position.mapID, geometry,
                    [
                        "t": Self.seconds(position.instant), "radius": Self.rounded(position.radius),
                        "label": position.label.map(JSONTree.string), "course": position.course.flatMap(Self.rounded),
                    ]))
        }
        let places = positions.map { GeoJSONPlace(instant: $0.instant, mapID: $0.mapID, point: $0.point) }
        return features + (try lines(of: places, "track", longestSilence: Self.longestSilence))
    }

    /// Returns features of positions on Earth, which have no map and no level.
    func features(ofOutdoor positions: [OutdoorPosition]) throws(GeoJSONError) -> [JSONTree] {
        var features: [JSONTree] = []
        for position in positions {
            features.append(
                GeoJSONPlans.feature(
                    "outdoorPosition", GeoJSONPlans.geometry("Point", try Self.point(of: position)),
                    [
                        "t": Self.seconds(position.instant), "radius": Self.rounded(position.radius),
                        "altitude": position.altitude.flatMap(Self.rounded),
                        "speed": position.speed.flatMap(Self.rounded),
                        "course": position.course.flatMap(Self.rounded),
                    ]))
        }
        for stay in positions.runs({ $0.instant.seconds - $1.instant.seconds <= Self.longestSilence }) {
            guard let first = stay.first, let last = stay.last, stay.count > 1 else { continue }
            var points: [JSONTree] = []
            for position in stay { points.append(try Self.point(of: position)) }
            features.append(
                GeoJSONPlans.feature(
                    "outdoorTrack", GeoJSONPlans.geometry("LineString", .array(points)),
                    ["from": Self.seconds(first.instant), "to": Self.seconds(last.instant)]))
        }
        return features
    }

    private static func point(of position: OutdoorPosition) throws(GeoJSONError) -> JSONTree {
        let coordinate = position.coordinate
        guard coordinate.isValid else { throw .invalidNumber("an outdoor position") }
        return GeoJSONPlans.position(coordinate)
    }

    func features(ofTruth truth: [GeoJSONPlace]) throws(GeoJSONError) -> [JSONTree] {
        var features: [JSONTree] = []
        for place in truth {
            let geometry = try plans.pointGeometry(place.point, on: place.mapID, of: "a ground truth position")
            features.append(plans.feature("truth", on: place.mapID, geometry, ["t": Self.seconds(place.instant)]))
        }
        return features + (try lines(of: truth, "truthTrack", longestSilence: Self.longestSilenceOfTruth))
    }

    /// Returns a line for each stay on one map with at least two points; a stay ends after a long time without a point.
    private func lines(
        of places: [GeoJSONPlace], _ kind: String, longestSilence: Double
    ) throws(GeoJSONError) -> [JSONTree] {
        var features: [JSONTree] = []
        let stays = places.runs {
            $0.mapID == $1.mapID && $0.instant.seconds - $1.instant.seconds <= longestSilence
        }
        for stay in stays {
            guard let first = stay.first, let last = stay.last, stay.count > 1 else { continue }
            let geometry = try plans.lineGeometry(stay.map(\.point), on: first.mapID, of: "a track")
            features.append(
                plans.feature(
                    kind, on: first.mapID, geometry,
                    ["from": Self.seconds(first.instant), "to": Self.seconds(last.instant)]))
        }
        return features
    }

    /// Returns seconds, rounded to milliseconds.
    private static func seconds(_ instant: Instant) -> JSONTree { .number((instant.seconds * 1000).rounded() / 1000) }

    /// Returns the value, rounded to thousandths; nil if it isn't finite.
    private static func rounded(_ value: Double) -> JSONTree? {
        value.isFinite ? .number((value * 1000).rounded() / 1000) : nil
    }
}

extension Array {
    /// Returns the elements in runs, in which each element continues the one before it.
    fileprivate func runs(_ goesOn: (_ next: Element, _ last: Element) -> Bool) -> [[Element]] {
        var runs: [[Element]] = []
        for element in self {
            if let last = runs.last?.last, goesOn(element, last) {
                runs[runs.count - 1].append(element)
            } else {
                runs.append([element])
            }
        }
        return runs
    }
}
