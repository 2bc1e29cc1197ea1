import IndoorLocalization

extension WalkSimulator {
    /// No walk takes longer, in seconds.
    static let longestWalk = 86_400.0
    /// No walk gives more readings: all of them are held at once, in some hundred bytes each.
    static let mostReadings = 3e6

    /// Refuses a walk that would fill the memory, before anything of it is simulated.
    func checkLength() throws(SimulationError) {
        let (radio, sensors) = (settings.radio, settings.sensors)
        func rate(_ interval: Double) -> Double { interval > 0 ? 1 / interval : 0 }
        let perSecond =
            Double(venue.beacons.count) * rate(radio.advertisingInterval) + sensors.motionRate
            + rate(sensors.pressureInterval) + rate(sensors.gnssInterval) + rate(sensors.truthInterval)
        let steps = timeline.legs.last.map { $0.stepsBefore + $0.cadence * $0.duration } ?? 0
        let readings = timeline.duration * perSecond + steps
        guard timeline.duration <= Self.longestWalk, readings <= Self.mostReadings else {
            throw .tooLong(hours: timeline.duration / 3600, readings: readings)
        }
    }

    /// A straight part of the walk that goes through walls.
    public struct WallCrossing: Hashable, Sendable {
        /// The point of the path that it leads to, from 1.
        public let point: Int
        /// How many walls it goes through.
        public let walls: Int
    }

    /// Where the walk goes through walls, as nobody can; ways between maps and under the open sky are not looked at.
    public var wallCrossings: [WallCrossing] {
        var walls: [MapID: WallCrossings] = [:]
        return zip(path.points, path.points.dropFirst()).enumerated().compactMap { index, ends in
            let (from, to) = ends
            guard from.mapID == to.mapID, !from.isOutdoors, !to.isOutdoors, let map = venue.map(to.mapID) else {
                return nil
            }
            let known = walls[map.id] ?? WallCrossings(of: map)
            walls[map.id] = known
            let count = known.count(from: from.point, to: to.point)
            return count > 0 ? WallCrossing(point: index + 1, walls: count) : nil
        }
    }
}
