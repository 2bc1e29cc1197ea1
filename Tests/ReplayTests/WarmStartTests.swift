import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

/// The benefit of session memory: sessions that start in the middle of recordings, with and without it.
final class WarmStartTests: XCTestCase {
    /// A third of the particles of the packet, as a debug build is slow.
    private static let settings: LocalizationSettings = {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 500
        return settings
    }()

    /// A recording and its ground truth.
    private struct Walk {
        let venue: Venue
        let readings: [SensorReading]
        let truths: [Truth]

        init(_ name: String) async throws {
            venue = try VenuePacketReader().read(FixtureFolder("office").path).venue
            let path = try RecordedWalk.path(name)
            var readings: [SensorReading] = []
            for try await reading in RecordingSource(path: path).readings() { readings.append(reading) }
            self.readings = readings
            var reader = try RecordingReader(path: path)
            var truths: [Truth] = []
            while let entry = try reader.next() { if case .truth(let truth) = entry { truths.append(truth) } }
            self.truths = truths
        }

        /// Returns the true position; between two waypoints on the straight line.
        func truth(at instant: Instant) -> (map: MapID, point: MapPoint)? {
            guard let next = truths.firstIndex(where: { $0.instant > instant }), next > 0,
                let before = truths[next - 1].point, let after = truths[next].point, let map = truths[next - 1].mapID
            else { return nil }
            guard !truths[next - 1].isHold, truths[next].mapID == map else { return (map, before) }
            let begin = truths[next - 1].instant
            let share =
                begin.duration(to: instant).seconds / max(1e-9, begin.duration(to: truths[next].instant).seconds)
            return (map, before + (after - before) * share)
        }

        /// Returns the memory of a session that has received the recording until then.
        func memory(at instant: Instant) throws -> SessionMemory { try XCTUnwrap(try memories(at: [instant]).first) }

        /// Returns the memory of a session at each of these instants, in order.
        func memories(at instants: [Instant]) throws -> [SessionMemory] {
            var replay = SessionReplay(venues: [venue], settings: WarmStartTests.settings)
            _ = replay.start()
            var memories: [SessionMemory] = []
            for reading in readings {
                while memories.count < instants.count, reading.instant > instants[memories.count] {
                    memories.append(replay.memory)
                }
                if memories.count == instants.count { break }
                _ = replay.handle(reading)
            }
            return memories
        }

        /// Returns the positions of a session that receives the recording from then on, for 12 s by default.
        func positions(
            from instant: Instant, for duration: Duration = .seconds(12), restoring memory: SessionMemory? = nil,
            after age: Duration = .zero
        ) -> [Position] {
            var replay = SessionReplay(venues: [venue], settings: WarmStartTests.settings)
            if let memory { replay.restore(memory, after: age) }
            var outputs = replay.start(at: instant)
            let end = instant.advanced(by: duration)
            for reading in readings where reading.instant > instant && reading.instant <= end {
                outputs += replay.handle(reading)
            }
            outputs += replay.finish()
            return outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
        }

        /// Returns the error in metres, plus 15 m for a wrong floor; nil where the true position is unknown.
        func error(of position: Position) -> Double? {
            guard let truth = truth(at: position.instant) else { return nil }
            return position.point.distance(to: truth.point) + (position.mapID == truth.map ? 0 : 15)
        }
    }

    /// A walk, and what two tests need of it: at each start, the positions without memory.
    private struct Starts {
        let name: String
        let seconds: [Double]
        let walk: Walk
        let cold: [[Position]]

        init(_ name: String, _ seconds: [Double]) async throws {
            (self.name, self.seconds) = (name, seconds)
            let walk = try await Walk(name)
            self.walk = walk
            cold = seconds.map { walk.positions(from: Instant(seconds: $0)) }
        }
    }

    private struct Beginning {
        var seconds = 0.0
        var error = 0.0
        /// The mean error in the first five seconds.
        var early = 0.0
    }

    private func beginning(_ walk: Walk, _ positions: [Position], from instant: Instant) throws -> Beginning {
        let first = try XCTUnwrap(positions.first, "no position from \(instant) on")
        let early = positions.prefix { instant.duration(to: $0.instant) <= .seconds(5) }.compactMap(walk.error)
        return Beginning(
            seconds: instant.duration(to: first.instant).seconds, error: try XCTUnwrap(walk.error(of: first)),
            early: early.reduce(0, +) / Double(max(1, early.count)))
    }

    private func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }

    /// The start times in seconds. None is on the stairs, where even the session with memory is on the wrong floor.
    private static let starts: [(name: String, seconds: [Double])] = [
        ("one-floor", Array(stride(from: 6, through: 22, by: 4))), ("stairs", [8, 11, 14, 44, 47, 50]),
        ("half-silent", Array(stride(from: 8, through: 44, by: 6))),
    ]
    private static let allStarts = Task {
        var all: [Starts] = []
        for (name, seconds) in starts { all.append(try await Starts(name, seconds)) }
        return all
    }

    func testAWarmStartIsFasterAndMoreAccurateThanAColdOne() async throws {
        for starts in try await Self.allStarts.value {
            let (name, walk) = (starts.name, starts.walk)
            var (cold, warm): ([Beginning], [Beginning]) = ([], [])
            let memories = try walk.memories(at: starts.seconds.map { Instant(seconds: $0 - 2) })
            for (index, memory) in memories.enumerated() {
                let start = Instant(seconds: starts.seconds[index])
                cold.append(try beginning(walk, starts.cold[index], from: start))
                let positions = walk.positions(
                    from: start, for: .seconds(6), restoring: memory, after: .seconds(2))
                warm.append(try beginning(walk, positions, from: start))
            }
            for (kind, list) in [("cold", cold), ("warm", warm)] {
                print(
                    "\(name), \(kind): first position after \(mean(list.map(\.seconds))) s, "
                        + "error \(mean(list.map(\.error))) m,",
                    "in the first five seconds \(mean(list.map(\.early))) m")
            }
            XCTAssertLessThanOrEqual(mean(warm.map(\.seconds)), mean(cold.map(\.seconds)) + 1e-9, name)
            XCTAssertLessThan(mean(warm.map(\.error)), 0.8 * mean(cold.map(\.error)), name)
            XCTAssertLessThan(mean(warm.map(\.early)), 0.8 * mean(cold.map(\.early)), name)
        }
    }

    func testASessionRecoversFromAMemoryOfTheWrongPlace() async throws {
        for starts in try await Self.allStarts.value {
            let (name, walk) = (starts.name, starts.walk)
            var (cold, wrong): ([Double], [Double]) = ([], [])
            let memories = try walk.memories(at: starts.seconds.map { Instant(seconds: $0) })
            for (index, known) in memories.enumerated() {
                let second = starts.seconds[index]
                let start = Instant(seconds: second)
                var memory = known
                // While the process was off, the device was moved to the other end of the building or to the other floor.
                let place = try XCTUnwrap(memory.stay?.places.max { $0.probability < $1.probability })
                let map = try XCTUnwrap(walk.venue.map(place.mapID))
                let other = walk.venue.maps.first { $0.id != place.mapID } ?? map
                let isUpstairs = Int(second) % 20 == 0
                memory.stay?.places = [
                    SessionMemory.Place(
                        mapID: isUpstairs ? other.id : map.id, probability: 1,
                        point: isUpstairs
                            ? place.point : MapPoint(x: map.width - place.point.x, y: map.height - place.point.y),
                        varianceX: 1, varianceY: 1)
                ]
                let (from, to) = (start.advanced(by: .seconds(5)), start.advanced(by: .seconds(12)))
                func late(_ positions: [Position]) -> [Double] {
                    positions.filter { $0.instant >= from && $0.instant <= to }.compactMap(walk.error)
                }
                cold += late(starts.cold[index])
                wrong += late(walk.positions(from: start, restoring: memory))
            }
            print("\(name), 5 to 12 s after the start: cold \(mean(cold)) m, after a wrong memory \(mean(wrong)) m")
            XCTAssertLessThan(mean(wrong), mean(cold) + 1.5, name)
        }
    }

    func testAMemoryThatIsTooOldChangesNothing() async throws {
        let walk = try await Walk("stairs")
        let start = Instant(seconds: 30)
        var memory = try walk.memory(at: start)
        memory.calibration = nil
        memory.stay?.rooms = []
        let cold = walk.positions(from: start)
        XCTAssertEqual(walk.positions(from: start, restoring: memory, after: .seconds(1800)), cold)
        XCTAssertNotEqual(walk.positions(from: start, restoring: memory, after: .seconds(1)), cold)
    }

    func testARestoredSessionKeepsTheCalibration() async throws {
        let walk = try await Walk("one-floor")
        let memory = try walk.memory(at: Instant(seconds: 20))
        let learned = try XCTUnwrap(memory.calibration)
        var replay = SessionReplay(venues: [walk.venue], settings: WarmStartTests.settings)
        replay.restore(memory, after: .seconds(86_400))
        XCTAssertEqual(replay.memory.calibration, learned, "the calibration is restored before the start")
        _ = replay.start()
        XCTAssertEqual(replay.memory.calibration, learned)
    }

    func testARestoredSessionReportsNoPositionWithoutABeacon() async throws {
        let walk = try await Walk("one-floor")
        var replay = SessionReplay(venues: [walk.venue], settings: WarmStartTests.settings)
        replay.restore(try walk.memory(at: Instant(seconds: 20)))
        var outputs = replay.start()
        for second in 0..<120 {
            let sample = PressureSample(instant: Instant(seconds: Double(second)), hectopascals: 1000)
            outputs += replay.handle(.pressure(sample))
        }
        outputs += replay.finish()
        for output in outputs { if case .position = output.content { XCTFail("\(output)") } }
    }
}
