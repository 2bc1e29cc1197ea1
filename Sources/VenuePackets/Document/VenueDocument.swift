import IndoorVocabulary
import TextFormats
import VenueModel

/// Creates the document tree of a venue: the reverse of `VenueParser`.
package enum VenueDocument {
    /// Returns the document; fields without a value are omitted.
    package static func tree(_ venue: Venue, radioMapPath: String?) -> JSONTree {
        object([
            "format": .string(VenueParser.format),
            "formatVersion": .number(Double(VenueParser.formatVersion)),
            "id": .number(Double(venue.id.rawValue)),
            "name": .string(venue.name),
            "version": .number(Double(venue.version)),
            "coordinate": venue.coordinate.map { object(coordinate($0)) },
            "radius": venue.radius.map(JSONTree.number),
            "maps": .array(venue.maps.map(map)),
            "beacons": .array(venue.beacons.map(beacon) + venue.receivers.map(receiver)),
            "anchors": entries(venue.anchors.map(anchor)),
            "rooms": entries(venue.rooms.map(room)),
            "pois": entries(venue.pointsOfInterest.map(pointOfInterest)),
            "events": entries(venue.fences.map(fence)),
            "interactions": entries(interactions(of: venue)),
            "paths": venue.paths.map(paths),
            "settings": venue.settings.isEmpty ? nil : .object(venue.settings.mapValues { JSONTree($0) }),
            "radioMap": radioMapPath.map(JSONTree.string),
        ])
    }

    private typealias Fields = [String: JSONTree?]

    private static func object(_ fields: Fields) -> JSONTree { .object(fields.compactMapValues(\.self)) }

    private static func entries(_ entries: [JSONTree]) -> JSONTree? { entries.isEmpty ? nil : .array(entries) }

    private static func number(_ id: Int) -> JSONTree { .number(Double(id)) }

    private static func coordinate(_ coordinate: Coordinate) -> Fields {
        ["latitude": .number(coordinate.latitude), "longitude": .number(coordinate.longitude)]
    }

    private static func point(_ point: MapPoint) -> Fields { ["x": .number(point.x), "y": .number(point.y)] }

    private static func line(_ points: [MapPoint]) -> JSONTree {
        .array(points.map { .array([.number($0.x), .number($0.y)]) })
    }

    private static func area(_ area: Area?) -> Fields {
        switch area {
        case .circle(let center, let radius): point(center).merging(["radius": .number(radius)]) { $1 }
        case .polygon(let corners): ["polygon": line(corners)]
        case nil: [:]
        }
    }

    private static func anchor(_ anchor: VenueAnchor) -> JSONTree {
        object(
            point(anchor.point).merging([
                "id": .string(anchor.id), "mapId": number(anchor.mapID.rawValue), "z": anchor.z.map(JSONTree.number),
            ]) { $1 })
    }

    private static func map(_ map: VenueMap) -> JSONTree {
        object([
            "id": number(map.id.rawValue),
            "name": .string(map.name),
            "level": number(map.level),
            "widthMeters": .number(map.width),
            "heightMeters": .number(map.height),
            "widthPixels": map.widthPixels.map(number),
            "heightPixels": map.heightPixels.map(number),
            "elevation": map.elevation.map(JSONTree.number),
            "image": map.imagePath.map(JSONTree.string),
            "tiles": map.tilesPath.map(JSONTree.string),
            "georeference": map.georeference.map(georeference),
            "walls": entries(map.walls.map(line)),
            "walkable": entries(map.walkable.map(line)),
        ])
    }

    private static func georeference(_ georeference: Georeference) -> JSONTree {
        switch georeference {
        case .center(let center, let bearing):
            object(["center": object(coordinate(center)), "bearing": .number(bearing)])
        case .controlPoints(let points):
            object([
                "controlPoints": .array(
                    points.map { object(point($0.point).merging(coordinate($0.coordinate)) { $1 }) })
            ])
        }
    }

    private static func beacon(_ beacon: VenueBeacon) -> JSONTree {
        let fields: Fields = [
            "address": beacon.address.map { .string($0.description) },
            "addressType": beacon.address?.kind.map { .string($0.rawValue) },
            "mapId": number(beacon.mapID.rawValue),
            "z": beacon.z.map(JSONTree.number),
            "measuredPower": beacon.measuredPower.map(JSONTree.number),
            "pathLossExponent": beacon.pathLossExponent.map(JSONTree.number),
        ]
        return object(fields.merging(point(beacon.point)) { $1 }.merging(name(of: beacon)) { $1 })
    }

    /// Returns the fields of a beacon's name. The document contains the address even if it isn't the name.
    private static func name(of beacon: VenueBeacon) -> Fields {
        let identity = beacon.identity
        switch beacon.validNaming {
        case .uuid: return region(BeaconRegion(identity))
        case .eddystoneUID:
            return [
                "namespace": identity.eddystoneNamespace.map(JSONTree.string),
                "instance": identity.eddystoneInstance.map(JSONTree.string),
            ]
        case .altBeacon: return ["altBeaconId": .string(identity.altBeaconID)]
        case .address: return ["address": beacon.address.map { .string($0.description) }]
        }
    }

    private static func region(_ region: BeaconRegion) -> Fields {
        [
            "uuid": .string(region.uuid.description), "major": region.major.map { number(Int($0)) },
            "minor": region.minor.map { number(Int($0)) },
        ]
    }

    private static func receiver(_ receiver: VenueReceiver) -> JSONTree {
        var fields: Fields = [
            "role": .string("receiver"),
            "id": .string(receiver.id),
            "aliases": entries(receiver.aliases.map(JSONTree.string)),
            "mapId": number(receiver.mapID.rawValue),
            "z": receiver.z.map(JSONTree.number),
            "measuredPower": receiver.measuredPower.map(JSONTree.number),
            "pathLossExponent": receiver.pathLossExponent.map(JSONTree.number),
        ]
        // The reader derives the same identity again.
        if receiver.identity != VenueReceiver.identity(for: receiver.id) {
            fields["uuid"] = .string(receiver.identity.uuid.description)
            fields["major"] = number(Int(receiver.identity.major))
            fields["minor"] = number(Int(receiver.identity.minor))
        }
        return object(fields.merging(point(receiver.point)) { $1 })
    }

    private static func feature(_ id: Int, _ name: String, _ mapID: MapID) -> Fields {
        ["id": number(id), "name": .string(name), "mapId": number(mapID.rawValue)]
    }

    private static func room(_ room: Room) -> JSONTree {
        object(feature(room.id, room.name, room.mapID).merging(area(room.area)) { $1 })
    }

    private static func pointOfInterest(_ poi: PointOfInterest) -> JSONTree {
        let fields: Fields = [
            "description": poi.description.map(JSONTree.string), "payload": poi.payload.map { JSONTree($0) },
        ]
        return object(
            fields.merging(feature(poi.id, poi.name, poi.mapID)) { $1 }.merging(point(poi.point)) { $1 })
    }

    private static func fence(_ fence: Fence) -> JSONTree {
        let fields: Fields = [
            "timeout": fence.timeout.map(seconds),
            "exitDelay": fence.exitDelay.map(seconds),
            "exitMargin": fence.exitMargin.map(JSONTree.number),
            "payload": fence.payload.map { JSONTree($0) },
        ]
        return object(
            fields.merging(feature(fence.id, fence.name, fence.mapID)) { $1 }.merging(area(fence.area)) { $1 })
    }

    /// Returns the interactions of a venue; those with a single beacon name it as the packet does.
    private static func interactions(of venue: Venue) -> [JSONTree] {
        guard !venue.interactions.isEmpty else { return [] }
        let names = Dictionary(venue.beacons.map { (BeaconRegion($0.identity), name(of: $0)) }) { first, _ in first }
        return venue.interactions.map { interaction($0, names) }
    }

    private static func interaction(_ interaction: Interaction, _ names: [BeaconRegion: Fields]) -> JSONTree {
        var fields: Fields = [
            "id": number(interaction.id), "name": .string(interaction.name),
            "trigger": interaction.trigger == .both ? nil : .string(interaction.trigger.rawValue),
            "distance": interaction.distance.map(JSONTree.number),
            "genericContent": interaction.genericContent.map(JSONTree.string),
            "contents": entries(interaction.contents.map(content)),
            "payload": interaction.payload.map { JSONTree($0) },
        ]
        switch interaction.target {
        case .room(let id): fields["room"] = number(id)
        case .fence(let id): fields["event"] = number(id)
        case .pointOfInterest(let id): fields["poi"] = number(id)
        case .beacon(let region):
            fields["beacon"] = object(names[region] ?? Self.region(region))
        }
        return object(fields)
    }

    private static func content(_ content: Interaction.Content) -> JSONTree {
        object([
            "id": number(content.id), "language": content.language.map(JSONTree.string),
            "content": .string(content.text), "image": content.image.map(JSONTree.string),
            "link": content.link.map(JSONTree.string), "displayLink": content.displayLink.map(JSONTree.string),
        ])
    }

    private static func seconds(_ duration: Duration) -> JSONTree { .number(Double(duration.nanoseconds) / 1e9) }

    private static func paths(_ graph: PathGraph) -> JSONTree {
        let nodes = graph.nodes.map { node in
            object(
                point(node.point).merging(["id": number(node.id), "mapId": number(node.mapID.rawValue)]) { $1 })
        }
        let edges = graph.edges.map { edge in
            object([
                "from": number(edge.from),
                "to": number(edge.to),
                "weight": edge.weight.map(JSONTree.number),
                "kind": edge.kind == .walk ? nil : .string(edge.kind.rawValue),
                "oneWay": edge.isOneWay ? .bool(true) : nil,
                "tags": edge.tags.isEmpty ? nil : .array(edge.tags.sorted().map(JSONTree.string)),
            ])
        }
        return object(["nodes": .array(nodes), "edges": .array(edges)])
    }
}
