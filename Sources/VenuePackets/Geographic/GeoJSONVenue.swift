import Glibc
import IndoorVocabulary
import TextFormats
import VenueModel

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
