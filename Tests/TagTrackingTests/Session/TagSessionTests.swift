import IndoorLocalization
import IndoorLocalizationTesting
import TagTracking
import VenuePackets
import XCTest

final class TagSessionTests: XCTestCase {
    private typealias Stage = TagStage

    func testAStandingTagIsFoundInItsRoom() throws {
        var session = TagSession(model: Stage.model(), power: nil, seed: 1)
        var (workspace, noise) = (TagWorkspace(), SeededGenerator(seed: 2))
        let place = MapPoint(x: 22, y: 8)
        XCTAssertNil(session.update(to: .zero, &workspace).position, "no receiver has received the tag")
        var (events, last) = ([LocalizationEvent](), Position?.none)
        for second in 1...20 {
            Stage.observe(&session, at: place, Double(second), noise: &noise)
            let update = session.update(to: Instant(seconds: Double(second)), &workspace)
            events += update.events
            last = update.position
        }
        let position = try XCTUnwrap(last)
        XCTAssertLessThan(position.point.distance(to: place), 4)
        XCTAssertEqual(position.label, "East")
        XCTAssertEqual(position.rooms.first?.id, Stage.east.id)
        XCTAssertEqual(position.floorCertainty, 1)
        XCTAssertNotNil(position.speed)
        XCTAssertEqual(events.map(\.description), ["enterRoom East"])
        XCTAssertEqual(session.end(at: Instant(seconds: 21)).map(\.description), ["exitRoom East"])
        XCTAssertEqual(session.end(at: Instant(seconds: 22)), [])
    }

    func testATagHoldsAtMost200KilobytesAndALightOneAtMost30() {
        for (tagClass, limit) in [(FleetSettings.TagClass.standard, 200_000), (.light, 30_000)] {
            var (workspace, noise) = (TagWorkspace(), SeededGenerator(seed: 3))
            let model = Stage.model(tagClass)
            var sessions = (0..<4).map { TagSession(model: model, power: nil, seed: UInt64($0)) }
            for second in 1...20 {
                for index in sessions.indices {
                    Stage.observe(&sessions[index], at: Stage.walk(Double(second)), Double(second), noise: &noise)
                    _ = sessions[index].update(to: Instant(seconds: Double(second)), &workspace)
                }
            }
            for session in sessions {
                XCTAssertLessThan(session.byteCount, limit)
                XCTAssertGreaterThan(session.byteCount, 60 * tagClass.particleCount)
            }
            XCTAssertGreaterThan(workspace.byteCount, 60 * tagClass.particleCount)
        }
    }

    /// Sessions that share a workspace must not see each other's numbers.
    func testASharedWorkspaceAffectsNoPosition() {
        let models = [Stage.model(), Stage.model(.light)]
        func positions(sharing: Bool) -> [Position?] {
            var noise = SeededGenerator(seed: 4)
            var workspaces = (0..<4).map { _ in TagWorkspace() }
            var sessions = (0..<4).map { TagSession(model: models[$0 % 2], power: nil, seed: UInt64($0)) }
            return (1...15).flatMap { second in
                sessions.indices.map { index in
                    let place = Stage.walk(Double(second + 9 * index))
                    Stage.observe(&sessions[index], at: place, Double(second), noise: &noise)
                    let workspace = sharing ? 0 : index
                    return sessions[index].update(to: Instant(seconds: Double(second)), &workspaces[workspace]).position
                }
            }
        }
        let shared = positions(sharing: true)
        XCTAssertEqual(shared.count { $0 == nil }, 0)
        XCTAssertEqual(shared, positions(sharing: false))
    }

    func testTheExpectedRSSIIncludesTheOffsetOfTheTag() throws {
        for offset in [-10.0, 0, 10] {
            var session = TagSession(model: Stage.model(), power: nil, seed: 5)
            var (workspace, noise) = (TagWorkspace(), SeededGenerator(seed: 6))
            XCTAssertNil(session.expectedRSSI(of: 0))
            for second in 1...60 {
                let time = Double(second)
                Stage.observe(&session, at: Stage.walk(time), time, offset: offset, noise: &noise)
                _ = session.update(to: Instant(seconds: time), &workspace)
            }
            var differences = 0.0
            for receiver in Stage.points.indices {
                let expected = try XCTUnwrap(session.expectedRSSI(of: receiver))
                let actual = Stage.rssi(of: receiver, at: Stage.walk(60), offset: offset)
                // The error of the position weighs most near a receiver.
                XCTAssertEqual(expected.rssi, actual, accuracy: 6, "receiver \(receiver), offset \(offset) dB")
                differences += expected.rssi - actual
                XCTAssertGreaterThan(expected.variance, 9)
                XCTAssertLessThan(expected.variance, 100)
            }
            XCTAssertEqual(differences / Double(Stage.points.count), 0, accuracy: 3, "offset \(offset) dB")
        }
    }

    func testTheStatedPowerOfATagNarrowsItsOffsetBeforeTheFirstReading() throws {
        // One receiver receives a tag of -10 dB: without its power, the tag seems to be far from the receiver.
        func expected(power: Double?, isPowerKnown: Bool? = nil) throws -> Double {
            let model = TagModel(
                venue: Stage.venue, tagClass: .standard, tables: Stage.tables, isPowerKnown: isPowerKnown)
            var session = TagSession(model: model, power: power, seed: 7)
            var workspace = TagWorkspace()
            for second in 1...3 {
                let now = Instant(seconds: Double(second))
                session.observe(receiver: 1, rssi: -75, window: .zero, at: now)
                session.observe(receiver: 6, rssi: -95, window: .zero, at: now)
                _ = session.update(to: now, &workspace)
            }
            return try XCTUnwrap(session.expectedRSSI(of: 1)).variance
        }
        XCTAssertLessThan(try expected(power: Stage.power - 10), try expected(power: nil))
        // The level of learned powers can be unknown.
        XCTAssertEqual(try expected(power: Stage.power - 10, isPowerKnown: false), try expected(power: nil))
    }

    /// A tag with a small battery: the position goes on between its advertisements, and the radius grows.
    func testATagThatAdvertisesEveryTenSecondsKeepsItsPosition() throws {
        for tagClass in [FleetSettings.TagClass.standard, .light] {
            var session = TagSession(model: Stage.model(tagClass), power: nil, seed: 8)
            var (workspace, noise) = (TagWorkspace(), SeededGenerator(seed: 9))
            let place = MapPoint(x: 9, y: 13)
            var (fresh, old, errors) = ([Double](), [Double](), [Double]())
            for second in 0..<160 {
                if second % 10 == 0 { Stage.observe(&session, at: place, Double(second), noise: &noise) }
                let position = session.update(to: Instant(seconds: Double(second)), &workspace).position
                guard second >= 60 else { continue }
                let answer = try XCTUnwrap(position, "second \(second)")
                errors.append(answer.point.distance(to: place))
                if second % 10 == 0 { fresh.append(answer.radius) }
                if second % 10 == 9 { old.append(answer.radius) }
            }
            func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
            XCTAssertLessThan(mean(errors), 3)
            XCTAssertLessThan(errors.max() ?? .infinity, 8)
            XCTAssertGreaterThan(mean(old), 1.5 * mean(fresh), "the radius grows between two advertisements")
        }
    }

    /// A gateway that sends the median of 15 s every 5 s.
    func testFilteredReadingsLocateATag() throws {
        var session = TagSession(model: Stage.model(), power: nil, seed: 10)
        var (workspace, noise) = (TagWorkspace(), SeededGenerator(seed: 11))
        let place = MapPoint(x: 20, y: 6)
        var last: Position?
        for second in 0...60 {
            for receiver in Stage.points.indices where (second + receiver) % 5 == 0 {
                session.observe(
                    receiver: receiver, rssi: Stage.rssi(of: receiver, at: place) + noise.normal(),
                    window: .seconds(15), at: Instant(seconds: Double(second)))
            }
            last = session.update(to: Instant(seconds: Double(second)), &workspace).position
        }
        let position = try XCTUnwrap(last)
        XCTAssertLessThan(position.point.distance(to: place), 3)
        XCTAssertLessThan(position.point.distance(to: place), 1.5 * position.radius)
    }
}

/// A tag whose receivers stand at the places of the office's beacons has the positions of the device that carries it.
final class ReversedSessionTests: XCTestCase {
    private func office() throws -> Venue {
        var venue = try VenuePacketReader().read(FixtureFolder("office").path).venue
        venue.receivers = venue.beacons.map { beacon in
            VenueReceiver(
                id: "receiver \(beacon.identity.minor)", identity: beacon.identity, mapID: beacon.mapID,
                point: beacon.point, z: beacon.z, measuredPower: beacon.measuredPower,
                pathLossExponent: beacon.pathLossExponent)
        }
        return venue
    }

    /// The sightings of a recording of the fixtures, which the simulator makes.
    private func sightings(_ name: String, seed: UInt64, in venue: Venue) throws -> [Sighting] {
        let file = try FixtureFolder("office/paths").file(name + ".json")
        let script = try WalkScript(json: Data(contentsOf: URL(filePath: file)))
        return try WalkSimulator(venue: venue, script: script, seed: seed).sensorReadings().compactMap {
            if case .sighting(let sighting) = $0 { sighting } else { nil }
        }
    }

    private func assertSamePositions(_ name: String, seed: UInt64, floors: Int) throws {
        let venue = try office()
        let sightings = try sightings(name, seed: seed, in: venue)
        var replay = SessionReplay(venues: [venue], seed: 12)
        var outputs = replay.start(at: try XCTUnwrap(sightings.first?.instant))
        for sighting in sightings { outputs += replay.handle(.sighting(sighting)) }
        // A device's session begins its positions when it has identified the venue.
        let first = try XCTUnwrap(
            outputs.first { if case .state(.findFloor) = $0.content { true } else { false } }?.instant)

        var tagClass = FleetSettings.TagClass.standard
        tagClass.positionInterval = .milliseconds(500)
        let model = TagModel(venue: venue.forTags, tagClass: tagClass, tables: SharedTables())
        var session = TagSession(model: model, power: nil, seed: 12)
        var workspace = TagWorkspace()
        var (positions, events) = ([Position](), [LocalizationEvent]())
        let receivers = Dictionary(uniqueKeysWithValues: model.venue.beacons.enumerated().map { ($1.identity, $0) })
        var (now, next) = (first, 0)
        while let last = sightings.last?.instant, now < last {
            while next < sightings.count, sightings[next].instant <= now {
                if let receiver = receivers[sightings[next].beacon] {
                    session.observe(
                        receiver: receiver, rssi: sightings[next].rssi, window: .zero, at: sightings[next].instant)
                }
                next += 1
            }
            let update = session.update(to: now, &workspace)
            if let position = update.position { positions.append(position) }
            events += update.events
            now = now.advanced(by: tagClass.positionInterval)
        }
        let expected = outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
        XCTAssertGreaterThan(expected.count, 40)
        XCTAssertEqual(Set(expected.map(\.mapID)).count, floors)
        XCTAssertEqual(positions, expected)
        XCTAssertEqual(
            events, outputs.compactMap { if case .event(let event) = $0.content { event } else { nil } })
        XCTAssertFalse(events.isEmpty)
    }

    func testATagHasThePositionsAndEventsOfADeviceOnOneFloor() throws {
        try assertSamePositions("track-ground", seed: 301, floors: 1)
    }

    func testATagHasThePositionsAndEventsOfADeviceInAnElevator() throws {
        try assertSamePositions("track-elevator", seed: 302, floors: 2)
    }
}

final class TagSnapshotTests: XCTestCase {
    private typealias Stage = TagStage

    /// A session after some seconds of a walk.
    private func walked(_ seconds: Int, _ tagClass: FleetSettings.TagClass = .standard) -> TagSession {
        var session = TagSession(model: Stage.model(tagClass), power: nil, seed: 1)
        var (workspace, noise) = (TagWorkspace(), SeededGenerator(seed: 2))
        for second in 1...seconds {
            Stage.observe(&session, at: Stage.walk(Double(second)), Double(second), noise: &noise)
            _ = session.update(to: Instant(seconds: Double(second)), &workspace)
        }
        return session
    }

    private func bytes(of session: TagSession) -> [UInt8] {
        var writer = BinaryWriter()
        session.write(to: &writer)
        return writer.bytes
    }

    private func restored(
        _ bytes: [UInt8], _ tagClass: FleetSettings.TagClass = .standard, at seconds: Double
    ) throws -> TagSession {
        var reader = BinaryReader(bytes)
        var session = TagSession(model: Stage.model(tagClass), power: nil, seed: 3)
        try session.restore(from: &reader, at: Instant(seconds: seconds))
        XCTAssertTrue(reader.isAtEnd)
        return session
    }

    func testARestoredSessionContinuesWhereItWas() throws {
        for tagClass in [FleetSettings.TagClass.standard, .light] {
            var differences: [Double] = []
            for seconds in stride(from: 10, through: 40, by: 5) {
                var session = walked(seconds, tagClass)
                let bytes = bytes(of: session)
                XCTAssertLessThanOrEqual(bytes.count, 250)
                var later = try restored(bytes, tagClass, at: Double(seconds))
                var (workspace, noise) = (TagWorkspace(), SeededGenerator(seed: 4))
                for second in seconds + 1...seconds + 3 {
                    let now = Instant(seconds: Double(second))
                    // The first position after the restart has no reading yet.
                    if second > seconds + 1 {
                        var same = noise
                        Stage.observe(&session, at: Stage.walk(Double(second)), Double(second), noise: &noise)
                        Stage.observe(&later, at: Stage.walk(Double(second)), Double(second), noise: &same)
                    }
                    let position = try XCTUnwrap(session.update(to: now, &workspace).position)
                    let answer = try XCTUnwrap(later.update(to: now, &workspace).position)
                    XCTAssertEqual(answer.mapID, position.mapID)
                    differences.append(answer.point.distance(to: position.point))
                }
            }
            XCTAssertLessThan(differences.reduce(0, +) / Double(differences.count), 1)
        }
    }

    func testARestoredSessionIsInTheRoomsThatItHadEntered() throws {
        var session = walked(8)
        XCTAssertEqual(session.end(at: Instant(seconds: 9)).map(\.description), ["exitRoom West"])
        var later = try restored(bytes(of: walked(8)), at: 8)
        XCTAssertEqual(later.end(at: Instant(seconds: 9)).map(\.description), ["exitRoom West"])
    }

    func testASessionWithoutEvidenceIsRestoredAsOne() throws {
        let empty = TagSession(model: Stage.model(), power: nil, seed: 1)
        var later = try restored(bytes(of: empty), at: 0)
        var workspace = TagWorkspace()
        XCTAssertNil(later.update(to: Instant(seconds: 1), &workspace).position)
    }

    func testABeliefOlderThanTheAwayTimeoutIsNotUsed() throws {
        let bytes = bytes(of: walked(8))
        var workspace = TagWorkspace()
        var young = try restored(bytes, at: 60)
        XCTAssertNotNil(young.update(to: Instant(seconds: 60), &workspace).position)
        var old = try restored(bytes, at: 70)
        XCTAssertNil(old.update(to: Instant(seconds: 70), &workspace).position)
        XCTAssertEqual(old.end(at: Instant(seconds: 71)).map(\.description), ["exitRoom West"])
    }

    func testEachBeginningOfASnapshotIsRefused() {
        let bytes = bytes(of: walked(8))
        for count in bytes.indices {
            var reader = BinaryReader(Array(bytes.prefix(count)))
            var session = TagSession(model: Stage.model(), power: nil, seed: 3)
            XCTAssertThrowsError(try session.restore(from: &reader, at: Instant(seconds: 8)), "\(count) bytes")
        }
    }

    func testDamagedBytesAreRefusedOrGiveASessionThatWorks() {
        let bytes = bytes(of: walked(8, .light))
        var (generator, workspace) = (SeededGenerator(seed: 5), TagWorkspace())
        var (refused, located) = (0, 0)
        for _ in 0..<300 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                damaged[Int.random(in: damaged.indices, using: &generator)] = UInt8.random(
                    in: .min ... .max, using: &generator)
            }
            var reader = BinaryReader(damaged)
            var session = TagSession(model: Stage.model(.light), power: nil, seed: 3)
            do {
                try session.restore(from: &reader, at: Instant(seconds: 8))
            } catch {
                refused += 1
            }
            Stage.observe(&session, at: Stage.walk(9), 9, noise: &generator)
            let position = session.update(to: Instant(seconds: 9), &workspace).position
            guard let position else { continue }
            located += 1
            XCTAssertTrue(position.point.x.isFinite && position.point.y.isFinite, "\(position)")
            XCTAssertTrue(position.radius.isFinite && position.radius > 0, "\(position)")
        }
        XCTAssertGreaterThan(refused, 30)
        XCTAssertGreaterThan(located, 150)
    }
}

/// A hall of 30 × 20 m with eight receivers, and the readings of a tag in it.
enum TagStage {
    static let hall: MapID = 1
    static let power = -60.0
    static let exponent = 2.2
    static let tables = SharedTables()

    static let points = [
        MapPoint(x: 2, y: 2), MapPoint(x: 15, y: 1), MapPoint(x: 28, y: 3), MapPoint(x: 1, y: 11),
        MapPoint(x: 29, y: 12), MapPoint(x: 3, y: 18), MapPoint(x: 16, y: 19), MapPoint(x: 27, y: 17),
    ]

    static let west = Room(id: 1, name: "West", mapID: hall, area: rectangle(0, 15))
    static let east = Room(id: 2, name: "East", mapID: hall, area: rectangle(15, 30))

    private static func rectangle(_ left: Double, _ right: Double) -> Area {
        .polygon([
            MapPoint(x: left, y: 0), MapPoint(x: right, y: 0), MapPoint(x: right, y: 20), MapPoint(x: left, y: 20),
        ])
    }

    /// The hall, as the venue of tags.
    static let venue = Venue(
        id: 1, name: "hall", maps: [VenueMap(id: hall, name: "hall", level: 0, width: 30, height: 20)],
        receivers: points.enumerated().map { index, point in
            VenueReceiver(
                id: "receiver \(index)",
                identity: BeaconIdentity(uuid: BeaconUUID(high: 0xA, low: 0xB), major: 1, minor: UInt16(index)),
                mapID: hall, point: point, measuredPower: power, pathLossExponent: exponent)
        }, rooms: [west, east]
    ).forTags

    static func model(_ tagClass: FleetSettings.TagClass = .standard) -> TagModel {
        TagModel(venue: venue, tagClass: tagClass, tables: tables)
    }

    static func rssi(of receiver: Int, at place: MapPoint, offset: Double = 0) -> Double {
        let distance = points[receiver].distance(to: place)
        return power + offset - 5 * exponent * log10(distance * distance + 0.25)
    }

    /// Adds a reading of each receiver.
    static func observe(
        _ session: inout TagSession, at place: MapPoint, _ seconds: Double, offset: Double = 0,
        noise: inout SeededGenerator
    ) {
        for receiver in points.indices {
            let rssi = rssi(of: receiver, at: place, offset: offset) + 3 * noise.normal()
            session.observe(receiver: receiver, rssi: rssi, window: .zero, at: Instant(seconds: seconds))
        }
    }

    /// A walk to and fro along the hall at 1 m/s.
    static func walk(_ seconds: Double) -> MapPoint {
        let way = seconds.truncatingRemainder(dividingBy: 40)
        return MapPoint(x: 5 + (way < 20 ? way : 40 - way), y: 10)
    }
}
