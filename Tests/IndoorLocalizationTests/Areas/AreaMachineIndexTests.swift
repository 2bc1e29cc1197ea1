import IndoorLocalization
import XCTest

/// The machine checks only the areas nearby, and emits the same events as with all areas.
final class AreaMachineIndexTests: XCTestCase {
    /// The same rules, asking every area at every point.
    private struct Plain {
        struct Presence {
            var isInside = false
            var isAnnounced = false
            var changingSince: Instant?
            var lastExit: Instant?
        }

        let watched: [AreaMachine.Watched]
        let dwell: Duration
        var presences: [Presence]

        init(_ watched: [AreaMachine.Watched], dwell: Duration) {
            self.watched = watched
            self.dwell = dwell
            presences = watched.map { _ in Presence() }
        }

        mutating func observe(_ point: MapPoint, on map: MapID, at now: Instant) -> [AreaMachine.Change] {
            var (exits, entries): ([AreaMachine.Change], [AreaMachine.Change]) = ([], [])
            for (index, area) in watched.enumerated() {
                let isIn = presences[index].isInside
                let margin = isIn ? area.exitMargin : 0
                let isInside = area.places.contains { place in
                    place.mapID == map
                        && (place.area.contains(point) || (margin > 0 && place.area.distance(to: point) <= margin))
                }
                guard isInside != isIn else {
                    presences[index].changingSince = nil
                    continue
                }
                let since = presences[index].changingSince ?? now
                presences[index].changingSince = since
                guard since.duration(to: now) >= (isInside ? dwell : area.exitDwell ?? dwell) else { continue }
                presences[index].changingSince = nil
                presences[index].isInside = isInside
                if isInside {
                    let isDue = presences[index].lastExit.map { $0.duration(to: now) >= area.holdOff } ?? true
                    presences[index].isAnnounced = isDue
                    if isDue { entries.append(.enter(area.id)) }
                } else if presences[index].isAnnounced {
                    presences[index].isAnnounced = false
                    presences[index].lastExit = now
                    exits.append(.exit(area.id))
                }
            }
            return exits + entries
        }
    }

    func testWalksGiveTheSameEventsAsALinearSearch() {
        for seed in UInt64(1)...12 {
            print("seed \(seed)")
            var random = RandomAreas(seed: seed)
            let watched = (0..<120).map { id in
                AreaMachine.Watched(
                    id: 1000 - id, mapID: random.generator.uniform() < 0.7 ? 1 : 2, area: random.area(within: 60),
                    holdOff: id % 3 == 0 ? .seconds(random.number(0...20)) : .zero,
                    exitDwell: id % 4 == 0 ? .seconds(random.number(0...5)) : nil,
                    exitMargin: id % 5 == 0 ? random.number(0...4) : 0)
            }
            let dwell = Duration.seconds(seed % 3 == 0 ? 0 : random.number(0...3))
            var (machine, plain) = (AreaMachine(watched: watched, dwell: dwell), Plain(watched, dwell: dwell))
            var point = MapPoint(x: 30, y: 30)
            var map: MapID = 1
            var (now, told) = (0.0, 0)
            for step in 0..<600 {
                now += random.number(0...1.5)
                point = point + MapPoint(x: random.number(-4...4), y: random.number(-4...4))
                if random.generator.uniform() < 0.02 { point = random.point(within: 60) }
                if random.generator.uniform() < 0.02 { map = map == 1 ? 2 : 1 }
                let changes = machine.observe(point, on: map, at: Instant(seconds: now))
                told += changes.count
                XCTAssertEqual(
                    changes, plain.observe(point, on: map, at: Instant(seconds: now)), "step \(step), seed \(seed)")
            }
            XCTAssertGreaterThan(told, 100, "seed \(seed)")
        }
    }

    func testTwoMachinesWithTheSameInputAreEqual() {
        let watched = (0..<50).map { id in
            AreaMachine.Watched(id: id, mapID: 1, area: .circle(center: MapPoint(x: Double(id), y: 0), radius: 3))
        }
        var (first, second) = (
            AreaMachine(watched: watched, dwell: .zero), AreaMachine(watched: watched, dwell: .zero)
        )
        for x in [5.0, 20, 8] { _ = first.observe(MapPoint(x: x, y: 0), on: 1, at: Instant(seconds: 1)) }
        XCTAssertNotEqual(first, second)
        _ = second.observe(MapPoint(x: 8, y: 0), on: 1, at: Instant(seconds: 1))
        XCTAssertEqual(first, second)
    }
}
