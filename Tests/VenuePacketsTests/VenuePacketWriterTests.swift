import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import VenuePackets
import XCTest

final class VenuePacketWriterTests: XCTestCase {
    func testTheReaderReturnsWhatWasWritten() throws {
        let seed: UInt64 = 20_260_201
        print("seed \(seed)")
        var venues = RandomVenue(seed: seed)
        for index in 0..<200 {
            let venue = venues.next()
            let bytes = try VenuePacketWriter().document(of: venue)
            let (read, problems) = VenuePacketReader.parse(bytes)
            XCTAssertEqual(read, venue, "venue \(index) of seed \(seed)")
            XCTAssertEqual(problems.filter { $0.severity == .error }, [], "venue \(index) of seed \(seed)")
        }
    }

    func testTheSameVenueGivesIdenticalOutput() throws {
        var venues = RandomVenue(seed: 7)
        for _ in 0..<20 {
            let venue = venues.next()
            XCTAssertEqual(try VenuePacketWriter().document(of: venue), try VenuePacketWriter().document(of: venue))
        }
    }

    func testEveryAcceptedPacketIsEqualAfterWritingAndReading() throws {
        let folder = try FixtureFolder("packets/accepted").path
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            var venue = try VenuePacketReader().read(folder + "/" + name).venue
            venue.radioMap = nil  // a file of its own, not in the document
            XCTAssertEqual(VenuePacketReader.parse(try VenuePacketWriter().document(of: venue)).venue, venue, name)
        }
    }

    func testAnInvalidVenueIsNotWritten() throws {
        let folder = try temporaryFolder()
        var venue = Venue(id: 1, name: "a", maps: [VenueMap(id: 1, name: "b", level: 0, width: .nan, height: 1)])
        venue.beacons = [
            VenueBeacon(
                identity: BeaconIdentity(uuid: BeaconUUID(high: 0, low: 0), major: 0, minor: 0), mapID: 2,
                point: MapPoint(x: 0, y: -.infinity))
        ]
        XCTAssertThrowsError(try VenuePacketWriter().write(venue, toFolder: folder)) { error in
            XCTAssertEqual(
                (error as? VenuePacketError)?.problems.map(\.path),
                ["$.maps[0].widthMeters", "$.beacons[0].mapId", "$.beacons[0].y"])
        }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), [])
    }

    func testANumberTooLargeForJSONReadersIsRefused() {
        let map = VenueMap(id: 1, name: "b", level: 0, width: 1, height: 1)
        let venue = Venue(id: VenueID(rawValue: 1 << 53 + 1), name: "a", maps: [map])
        XCTAssertThrowsError(try VenuePacketWriter().document(of: venue)) { error in
            XCTAssertEqual((error as? VenuePacketError)?.problems.map(\.path), ["$.id"])
        }
    }

    func testAWrittenFolderIsReadBack() throws {
        let folder = try temporaryFolder() + "/new/packet"
        let map = VenueMap(id: 1, name: "b", level: 0, width: 1, height: 1)
        let venue = Venue(id: 3, name: "a", maps: [map])
        try VenuePacketWriter().write(venue, toFolder: folder)
        XCTAssertEqual(try VenuePacketReader().read(folder).venue, venue)
    }
}

/// Random venues without errors, with each kind of optional field there or not.
struct RandomVenue {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func next() -> Venue {
        var venue = Venue(
            id: VenueID(rawValue: int(-1_000_000...1_000_000)), name: text(), version: int(0...9_007_199_254_740_991),
            coordinate: maybe { $0.coordinate() }, radius: maybe { $0.double(0.1...5_000) },
            maps: (1...int(1...3)).map { map(MapID(rawValue: $0)) })
        venue.beacons = (0..<int(0...20)).map { beacon(minor: $0, of: venue) }
        venue.receivers = (0..<int(0...5)).map { receiver($0, of: venue) }
        venue.anchors = (0..<int(0...5)).map { anchor($0, of: venue) }
        venue.rooms = (0..<int(0...5)).map { id in
            Room(id: id, name: text(), mapID: mapID(of: venue), area: maybe { $0.area() })
        }
        venue.pointsOfInterest = (0..<int(0...5)).map { id in
            PointOfInterest(
                id: -id, name: text(), description: maybe { $0.text() }, mapID: mapID(of: venue), point: point(),
                payload: maybe { $0.value(depth: 3) })
        }
        venue.fences = (0..<int(0...5)).map { id in
            Fence(
                id: id, name: text(), mapID: mapID(of: venue), area: area(),
                timeout: maybe { .milliseconds($0.int(0...600_000)) },
                exitDelay: maybe { .milliseconds($0.int(0...60_000)) },
                exitMargin: maybe { Double($0.int(0...40)) / 8 }, payload: maybe { $0.value(depth: 2) })
        }
        venue.interactions = (0..<int(0...4)).compactMap { interaction($0, of: venue) }
        venue.paths = maybe { $0.paths(of: venue) }
        for index in 0..<int(0...4) { venue.settings["stage\(index).\(text())x"] = value(depth: 0) }
        return venue
    }

    private mutating func map(_ id: MapID) -> VenueMap {
        let pixels = maybe { ($0.int(1...10_000), $0.int(1...10_000)) }
        return VenueMap(
            id: id, name: text(), level: int(-5...90), width: double(1...500), height: double(1...500),
            widthPixels: pixels?.0, heightPixels: pixels?.1, elevation: maybe { $0.double(-30...400) },
            imagePath: maybe { "plans/\($0.int(0...9)) ö.png" }, tilesPath: maybe { "tiles/\($0.int(0...9)).zip" },
            georeference: maybe { $0.georeference() },
            walls: (0..<int(0...3)).map { _ in (0..<int(2...6)).map { _ in point() } },
            walkable: (0..<int(0...2)).map { _ in polygon() })
    }

    private mutating func georeference() -> Georeference {
        let center = coordinate()
        if bool() { return .center(center, bearing: double(0...359)) }
        let plan = GeoreferenceCase(center: center, bearing: double(0...359), width: 40, height: 30)
        return .controlPoints((0..<int(2...5)).map { plan.controlPoint(at: MapPoint(x: Double($0) * 7, y: 30)) })
    }

    private mutating func beacon(minor: Int, of venue: Venue) -> VenueBeacon {
        let uuid = BeaconUUID(high: generator.next(), low: generator.next())
        var beacon = VenueBeacon(
            identity: BeaconIdentity(uuid: uuid, major: UInt16(int(0...65_535)), minor: UInt16(minor)),
            address: maybe { DeviceAddress(rawValue: $0.generator.next()) }, mapID: mapID(of: venue), point: point(),
            z: maybe { $0.double(0...5) }, measuredPower: maybe { $0.double(-100...0) },
            pathLossExponent: maybe { $0.double(1...6) })
        beacon.naming = BeaconNaming.allCases[int(0...3)]
        switch beacon.naming {
        case .uuid, .altBeacon: break
        case .eddystoneUID: (beacon.identity.major, beacon.identity.minor) = (0, 0)
        case .address:
            let address = DeviceAddress(rawValue: generator.next(), kind: .public)
            (beacon.address, beacon.identity) = (address, BeaconIdentity(address: address))
        }
        return beacon
    }

    private mutating func receiver(_ number: Int, of venue: Venue) -> VenueReceiver {
        let id = "\(number)" + text()
        let uuid = BeaconUUID(high: generator.next(), low: generator.next())
        return VenueReceiver(
            id: id, aliases: (0..<int(0...2)).map { "\(number).\($0)" },
            identity: bool() ? VenueReceiver.identity(for: id) : BeaconIdentity(uuid: uuid, major: 1, minor: 2),
            mapID: mapID(of: venue), point: point(), z: maybe { $0.double(0...5) },
            measuredPower: maybe { $0.double(-100...0) }, pathLossExponent: maybe { $0.double(1...6) })
    }

    private mutating func anchor(_ number: Int, of venue: Venue) -> VenueAnchor {
        VenueAnchor(
            id: "\(number)" + text(), mapID: mapID(of: venue), point: point(), z: maybe { $0.double(0...5) })
    }

    private mutating func paths(of venue: Venue) -> PathGraph {
        let nodes = (0..<int(1...6)).map { PathGraph.Node(id: $0, mapID: mapID(of: venue), point: point()) }
        let edges = (0..<int(0...6)).map { _ in
            PathGraph.Edge(
                from: int(0...nodes.count - 1), to: int(0...nodes.count - 1), weight: maybe { $0.double(0...99) },
                kind: PathGraph.Edge.Kind.allCases[int(0...3)], isOneWay: bool(),
                tags: Set((0..<int(0...2)).map { "tag \($0)" }))
        }
        return PathGraph(nodes: nodes, edges: edges)
    }

    private mutating func interaction(_ id: Int, of venue: Venue) -> Interaction? {
        let targets: [Interaction.Target?] = [
            venue.rooms.first.map { .room($0.id) }, venue.fences.last.map { .fence($0.id) },
            venue.pointsOfInterest.last.map { .pointOfInterest($0.id) },
            venue.beacons.last.map { .beacon(BeaconRegion($0.identity)) },
            venue.beacons.first.map { .beacon(BeaconRegion(uuid: $0.identity.uuid)) },
        ]
        guard let target = targets[int(0...targets.count - 1)] else { return nil }
        let isDistant =
            switch target {
            case .beacon, .pointOfInterest: true
            case .room, .fence: false
            }
        return Interaction(
            id: id, name: text(), target: target, trigger: Interaction.Trigger.allCases[int(0...2)],
            distance: isDistant ? maybe { $0.double(0.1...50) } : nil, genericContent: maybe { $0.text() },
            contents: (0..<int(0...2)).map { id in
                Interaction.Content(
                    id: id, language: maybe { $0.text() }, text: text(), image: maybe { $0.text() },
                    link: maybe { $0.text() }, displayLink: maybe { $0.text() })
            }, payload: maybe { $0.value(depth: 2) })
    }

    private mutating func area() -> Area {
        bool() ? .circle(center: point(), radius: double(0.1...50)) : .polygon(polygon())
    }

    /// A staircase down and back: simple whatever the numbers are.
    private mutating func polygon() -> [MapPoint] {
        let steps = (0..<int(2...9)).map { MapPoint(x: Double($0) + double(0...0.5), y: double(1...9)) }
        return steps + [MapPoint(x: 20, y: -5), MapPoint(x: -5, y: -5)]
    }

    private mutating func value(depth: Int) -> JSONValue {
        switch int(0...(depth > 0 ? 5 : 3)) {
        case 0: .null
        case 1: .bool(bool())
        case 2: .number(double(-1e9...1e9))
        case 3: .string(text())
        case 4: .array((0..<int(0...3)).map { _ in value(depth: depth - 1) })
        default:
            .object(
                Dictionary((0..<int(0...3)).map { _ in (text(), value(depth: depth - 1)) }, uniquingKeysWith: { $1 }))
        }
    }

    private mutating func text() -> String {
        let letters = ["a", "Z", "ß", "厨", "\"", "\\", "/", " ", "\n", "\u{1}", "👩‍🔧", "é", "'"]
        return (0..<int(0...6)).map { _ in letters[int(0...letters.count - 1)] }.joined()
    }

    private mutating func mapID(of venue: Venue) -> MapID { venue.maps[int(0...venue.maps.count - 1)].id }
    private mutating func coordinate() -> Coordinate {
        Coordinate(latitude: double(-89...89), longitude: double(-180...180))
    }
    private mutating func point() -> MapPoint { MapPoint(x: double(-10...510), y: double(-10...510)) }
    private mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    private mutating func double(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &generator) }
    private mutating func bool() -> Bool { Bool.random(using: &generator) }
    private mutating func maybe<Value>(_ make: (inout RandomVenue) -> Value) -> Value? { bool() ? make(&self) : nil }
}

/// Control points of a plan fixed by centre and bearing.
struct GeoreferenceCase {
    let center: Coordinate
    let bearing: Double
    let width: Double
    let height: Double

    func controlPoint(at point: MapPoint) -> Georeference.ControlPoint {
        let transform = try? GeoTransform(.center(center, bearing: bearing), width: width, height: height)
        return Georeference.ControlPoint(point: point, coordinate: transform?.coordinate(at: point) ?? center)
    }
}
