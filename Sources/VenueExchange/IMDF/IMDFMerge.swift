import IndoorVocabulary
import VenueModel
import VenuePackets

/// Copies manual additions from an old venue to a new one.
struct IMDFMerge {
    /// The transform of points from one edition of a map to the next.
    struct Move {
        /// From the old map to coordinates, and from coordinates to the new map; nil if the plan hasn't moved.
        let transforms: (old: GeoTransform, new: GeoTransform)?

        var isStill: Bool { transforms == nil }

        func callAsFunction(_ point: MapPoint) -> MapPoint {
            guard let transforms else { return point }
            let moved = transforms.new.point(at: transforms.old.coordinate(at: point))
            return MapPoint(x: (moved.x * 1000).rounded() / 1000, y: (moved.y * 1000).rounded() / 1000)
        }
    }

    let old: Venue
    var venue: Venue
    let moves: [MapID: Move]
    var result = IMDFOverrides()

    /// Returns the moves of the maps that both editions have.
    static func moves(from old: Venue, to new: Venue) throws(IMDFOverridesError) -> [MapID: Move] {
        var moves: [MapID: Move] = [:]
        for map in new.maps {
            guard let before = old.map(map.id) else { continue }
            // A file without coordinates says nothing against those that a person gave the plan.
            let hasItsPlace = map.georeference == nil || before.georeference == map.georeference
            let isStill = hasItsPlace && before.width == map.width && before.height == map.height
            moves[map.id] = Move(transforms: isStill ? nil : (try transform(of: before), try transform(of: map)))
        }
        guard !moves.isEmpty else { throw .noCommonMap(old.id) }
        return moves
    }

    private static func transform(of map: VenueMap) throws(IMDFOverridesError) -> GeoTransform {
        do throws(GeoreferenceError) {
            if let transform = try map.geoTransform() { return transform }
        } catch {}
        throw .noPlace(map.id)
    }

    // MARK: Report

    /// Records how many objects were kept, and how many were on removed maps.
    private mutating func note(_ kept: Int, of all: Int, _ thing: String) {
        if kept > 0 { result.kept.append(Self.count(kept, thing)) }
        let lost = all - kept
        if lost > 0 {
            result.lost.append("\(Self.count(lost, thing)) on maps that the archive no longer has")
        }
    }

    private static func count(_ number: Int, _ thing: String) -> String {
        "\(number) \(number == 1 ? thing : IMDFReport.plural(of: thing))"
    }

    // MARK: Radio

    mutating func keepBeacons() {
        // A file of OpenStreetMap may contain beacons: they replace those of the old packet.
        completeBeacons()
        let present = Set(venue.beacons.map(\.identity))
        let missing = old.beacons.filter { !present.contains($0.identity) }
        venue.beacons += kept(missing, on: \.mapID, at: \.point, "beacon")
        // A configuration of ESPresense-companion has all receivers.
        if venue.receivers.isEmpty {
            venue.receivers = kept(old.receivers, on: \.mapID, at: \.point, "receiver")
        } else {
            completeReceivers()
        }
        venue.anchors = kept(old.anchors, on: \.mapID, at: \.point, "anchor")
    }

    /// Adds to the beacons of the file what only the old packet has, such as a measured power.
    private mutating func completeBeacons() {
        let earlier = Dictionary(old.beacons.map { ($0.identity, $0) }) { first, _ in first }
        let addresses = Set(venue.beacons.compactMap(\.address))
        var completed = 0
        for (index, beacon) in venue.beacons.enumerated() {
            guard let before = earlier[beacon.identity] else { continue }
            var beacon = beacon
            beacon.address = beacon.address ?? before.address.flatMap { addresses.contains($0) ? nil : $0 }
            beacon.z = beacon.z ?? before.z
            beacon.measuredPower = beacon.measuredPower ?? before.measuredPower
            beacon.pathLossExponent = beacon.pathLossExponent ?? before.pathLossExponent
            guard beacon != venue.beacons[index] else { continue }
            venue.beacons[index] = beacon
            completed += 1
        }
        guard completed > 0 else { return }
        result.kept.append("the powers, heights and addresses of \(Self.count(completed, "beacon"))")
    }

    /// Adds to the receivers of the file what only the old packet has, and reports those that the file doesn't have.
    private mutating func completeReceivers() {
        let earlier = Dictionary(old.receivers.map { ($0.id, $0) }) { first, _ in first }
        let names = Set(venue.receivers.flatMap { [$0.id] + $0.aliases })
        var completed = 0
        for (index, receiver) in venue.receivers.enumerated() {
            guard let before = earlier[receiver.id] else { continue }
            var receiver = receiver
            // The radio map refers to a receiver by its identity.
            receiver.identity = before.identity
            receiver.aliases += before.aliases.filter { !names.contains($0) }
            receiver.z = receiver.z ?? before.z
            receiver.measuredPower = receiver.measuredPower ?? before.measuredPower
            receiver.pathLossExponent = receiver.pathLossExponent ?? before.pathLossExponent
            guard receiver != venue.receivers[index] else { continue }
            venue.receivers[index] = receiver
            completed += 1
        }
        if completed > 0 {
            result.kept.append("the powers, heights and other names of \(Self.count(completed, "receiver"))")
        }
        let present = Set(venue.receivers.map(\.id))
        for receiver in old.receivers where !present.contains(receiver.id) {
            result.lost.append("receiver \(receiver.id), which the archive does not have")
        }
    }

    /// Returns the radios on maps that both editions have, at their places on the new maps, and records their number.
    private mutating func kept<Radio>(
        _ radios: [Radio], on mapID: KeyPath<Radio, MapID>, at point: WritableKeyPath<Radio, MapPoint>, _ thing: String
    ) -> [Radio] {
        let kept = radios.compactMap { radio in
            guard let move = moves[radio[keyPath: mapID]] else { return Radio?.none }
            var radio = radio
            radio[keyPath: point] = move(radio[keyPath: point])
            return radio
        }
        note(kept.count, of: radios.count, thing)
        return kept
    }

    /// Readings refer to beacons by index, so the readings of beacons on removed maps are removed as well.
    mutating func keepRadioMap() {
        guard var radioMap = old.radioMap else { return }
        var indexes: [Int: Int] = [:]
        for (index, beacon) in radioMap.beacons.enumerated() where moves[beacon.mapID] != nil {
            indexes[index] = indexes.count
        }
        let all = radioMap.fingerprints.count
        radioMap.beacons = radioMap.beacons.compactMap { beacon in
            guard let move = moves[beacon.mapID] else { return nil }
            var beacon = beacon
            beacon.point = move(beacon.point)
            return beacon
        }
        radioMap.fingerprints = radioMap.fingerprints.compactMap { fingerprint in
            guard let move = moves[fingerprint.mapID] else { return nil }
            var fingerprint = fingerprint
            fingerprint.point = move(fingerprint.point)
            fingerprint.readings = fingerprint.readings.compactMap { reading in
                guard let index = indexes[reading.beacon] else { return nil }
                var reading = reading
                reading.beacon = index
                return reading
            }
            return fingerprint
        }
        let kept = radioMap.fingerprints.count
        guard !radioMap.beacons.isEmpty, kept > 0 || all == 0 else {
            result.lost.append("the radio map: the archive no longer has its maps")
            return
        }
        venue.radioMap = radioMap
        result.kept.append("the radio map")
        if kept < all { note(0, of: all - kept, "fingerprint of the radio map") }
    }

    mutating func keepSettings() {
        venue.settings = old.settings
        note(old.settings.count, of: old.settings.count, "setting")
    }

    // MARK: Plans

    mutating func keepPlans() {
        var (images, georeferences) = (0, 0)
        for index in venue.maps.indices {
            guard let before = old.map(venue.maps[index].id), let move = moves[before.id] else { continue }
            venue.maps[index].elevation = venue.maps[index].elevation ?? before.elevation
            if venue.maps[index].georeference == nil, before.georeference != nil {
                venue.maps[index].georeference = before.georeference
                georeferences += 1
            }
            guard before.imagePath != nil || before.tilesPath != nil else { continue }
            guard move.isStill else {
                result.lost.append("the image of map \(before.id) (\(before.name)): the plan has moved")
                continue
            }
            venue.maps[index].imagePath = before.imagePath
            venue.maps[index].tilesPath = before.tilesPath
            venue.maps[index].widthPixels = before.widthPixels
            venue.maps[index].heightPixels = before.heightPixels
            images += 1
        }
        note(images, of: images, "plan image")
        note(georeferences, of: georeferences, "georeference")
        if venue.coordinate == nil, old.coordinate != nil {
            (venue.coordinate, venue.radius) = (old.coordinate, old.radius)
            result.kept.append("the place of the venue")
        }
        keepWalls()
        let gone = old.maps.filter { moves[$0.id] == nil && ($0.imagePath != nil || $0.tilesPath != nil) }.count
        note(0, of: gone, "plan image")
    }

    /// Keeps the walls and walkable areas, if the new venue has no walls at all, as its format can't contain any.
    private mutating func keepWalls() {
        guard venue.maps.allSatisfy({ $0.walls.isEmpty && $0.walkable.isEmpty }) else { return }
        var walls = 0
        for index in venue.maps.indices {
            guard let before = old.map(venue.maps[index].id), let move = moves[before.id] else { continue }
            venue.maps[index].walls = before.walls.map { line in line.map { move($0) } }
            venue.maps[index].walkable = before.walkable.map { area in area.map { move($0) } }
            walls += before.walls.count
        }
        note(walls, of: old.maps.reduce(0) { $0 + $1.walls.count }, "wall")
    }

    /// Keeps the path graph if the new venue has none, as its format can't contain any.
    mutating func keepPaths() {
        guard venue.paths == nil, let graph = old.paths else { return }
        let nodes = graph.nodes.compactMap { node -> PathGraph.Node? in
            guard let move = moves[node.mapID] else { return nil }
            var node = node
            node.point = move(node.point)
            return node
        }
        let present = Set(nodes.map(\.id))
        let edges = graph.edges.filter { present.contains($0.from) && present.contains($0.to) }
        if !nodes.isEmpty { venue.paths = PathGraph(nodes: nodes, edges: edges) }
        note(edges.count, of: graph.edges.count, "path")
    }

    // MARK: Points, fences and rooms

    /// Returns whether a payload was written by an import.
    private static func isOfAnArchive(_ payload: JSONValue?) -> Bool {
        guard case .object(let fields)? = payload else { return false }
        return fields["featureType"] != nil && fields["id"] != nil
    }

    mutating func keepPoints() {
        let present = Set(venue.pointsOfInterest.map(\.id))
        let own = old.pointsOfInterest.filter { !present.contains($0.id) && !Self.isOfAnArchive($0.payload) }
        let kept = own.compactMap { point -> PointOfInterest? in
            guard let move = moves[point.mapID] else { return nil }
            var point = point
            point.point = move(point.point)
            return point
        }
        venue.pointsOfInterest += kept
        note(kept.count, of: own.count, "point of interest")
    }

    mutating func keepFences() {
        let present = Set(venue.fences.map(\.id))
        let own = old.fences.filter { !present.contains($0.id) && !Self.isOfAnArchive($0.payload) }
        let kept = own.compactMap { fence -> Fence? in
            guard let move = moves[fence.mapID] else { return nil }
            var fence = fence
            switch fence.area {
            case .polygon(let corners): fence.area = .polygon(corners.map { move($0) })
            case .circle(let center, let radius): fence.area = .circle(center: move(center), radius: radius)
            }
            return fence
        }
        venue.fences += kept
        note(kept.count, of: own.count, "fence")
    }

    /// Keeps the interactions, which an archive doesn't have, except those whose place was removed.
    mutating func keepInteractions() {
        let (rooms, points) = (Set(venue.rooms.map(\.id)), Set(venue.pointsOfInterest.map(\.id)))
        let fences = Set(venue.fences.map(\.id))
        venue.interactions = old.interactions.filter { interaction in
            switch interaction.target {
            case .beacon: true
            case .room(let id): rooms.contains(id)
            case .fence(let id): fences.contains(id)
            case .pointOfInterest(let id): points.contains(id)
            }
        }
        let (kept, lost) = (venue.interactions.count, old.interactions.count - venue.interactions.count)
        note(kept, of: kept, "interaction")
        if lost > 0 { result.lost.append("\(Self.count(lost, "interaction")) whose place was removed") }
    }

    /// Reports the removed rooms: a packet doesn't show whether an archive or a person drew them.
    mutating func nameRooms() {
        let present = Set(venue.rooms.map(\.id))
        for room in old.rooms where !present.contains(room.id) {
            result.lost.append("room \(room.id) (\(room.name)), which the archive does not have")
        }
    }
}

/// The manual additions that were copied from the packet of an earlier edition, and those that could not be.
public struct IMDFOverrides: Hashable, Sendable {
    /// The objects that were copied, such as `12 beacons`.
    public internal(set) var kept: [String] = []
    /// The objects of the old packet that are not in the new one, with the reason.
    public internal(set) var lost: [String] = []
}

/// A packet whose manual additions cannot be copied to an imported venue.
public enum IMDFOverridesError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The packet has none of the archive's maps.
    case noCommonMap(VenueID)
    /// The positions on this map of the packet cannot be converted to those on the map of the archive, because one of
    /// the two has no valid georeference.
    case noPlace(MapID)

    public var description: String {
        switch self {
        case .noCommonMap(let id):
            "venue \(id) of the packet to keep has no map of the archive; give the packet of an earlier edition of "
                + "this archive"
        case .noPlace(let map):
            "map \(map) of the packet to keep differs in its size or place from that of the archive, and one of the two "
                + "has no valid georeference, so its beacons cannot be placed; correct that of the packet in venue.json, "
                + "or that of the archive"
        }
    }
}

extension IMDFImport {
    /// Copies from the packet of an earlier edition what an archive cannot contain.
    ///
    /// These are the beacons, the radio map, the settings, the elevations of maps, the images of plans, the
    /// interactions, and the points of interest and fences that don't come from an archive. A beacon or receiver of the
    /// archive gets the values that it doesn't have, such as a measured power, and an archive without walls, without
    /// paths or without georeferences those of the packet. Maps are matched by their ids, which are the same for the
    /// same levels. If a larger edition has moved its plans, points keep their coordinates on Earth.
    ///
    /// Only the paths of images are copied: `VenuePacket.copyPlans(of:toFolder:)` copies the files.
    /// - Returns: what was kept and what could not be.
    /// - Throws: `IMDFOverridesError` if the packet is of another archive, or if a map has changed its frame and has no
    ///   valid georeference in one of the two.
    public mutating func keepOverrides(of old: Venue) throws(IMDFOverridesError) -> IMDFOverrides {
        var merge = IMDFMerge(old: old, venue: venue, moves: try IMDFMerge.moves(from: old, to: venue))
        merge.keepBeacons()
        merge.keepRadioMap()
        merge.keepSettings()
        merge.keepPlans()
        merge.keepPaths()
        merge.keepPoints()
        merge.keepFences()
        merge.keepInteractions()
        merge.nameRooms()
        venue = merge.venue
        return merge.result
    }
}
