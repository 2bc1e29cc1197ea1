import CMath
import IndoorLocalization

extension WalkSimulator {
    /// Returns all distances that the device measures, anchor by anchor: by ultra-wideband, on the map of the anchor.
    func ranges() -> [SensorReading] {
        guard settings.ranges.interval > 0 else { return [] }
        return venue.anchors.flatMap { anchor in
            guard let map = venue.map(anchor.mapID) else { return [SensorReading]() }
            return ranges(to: anchor, on: map)
        }
    }

    private func ranges(to anchor: VenueAnchor, on map: VenueMap) -> [SensorReading] {
        let ranges = settings.ranges
        let walls = WallCrossings(of: map)
        let floor = map.elevation ?? Double(map.level) * WalkTimeline.usualFloorHeight
        var generator = SeededGenerator.stream(seed, Purpose.ranging.rawValue, anchor.identity.seed)
        var readings: [SensorReading] = []
        var time = ranges.interval * generator.uniform()
        while time < timeline.duration {
            let pose = timeline.pose(at: time)
            let device = pose.height + settings.radio.deviceHeight
            let rise = anchor.z.map { floor + $0 - device } ?? 0
            let length = cmath_hypot(pose.point.distance(to: anchor.point), rise)
            let noise = ranges.deviation * generator.normal()
            let isLost = generator.uniform() < ranges.lossShare
            if !isLost, pose.mapID == map.id, !pose.isOutdoors, length <= ranges.reach {
                let isHidden = walls.count(from: pose.point, to: anchor.point) > 0
                let distance = length + ranges.offset + excess(at: pose.point, of: anchor, isHidden: isHidden) + noise
                readings.append(
                    .range(
                        RangeReading(
                            instant: Self.instant(time), anchor: anchor.id,
                            distance: Self.round(distance, decimals: 1000),
                            deviation: ranges.statesDeviation ? max(ranges.deviation, 0.001) : nil, technology: .uwb)))
            }
            time += ranges.interval
        }
        return readings
    }

    /// Returns the excess length of the path at a place. All places in one area, and all walks of an environment, have
    /// the same excess.
    private func excess(at point: MapPoint, of anchor: VenueAnchor, isHidden: Bool) -> Double {
        let ranges = settings.ranges
        let edge = ranges.excessDistance
        let (column, row) = (Int64((point.x / edge).rounded(.down)), Int64((point.y / edge).rounded(.down)))
        var generator = SeededGenerator.stream(
            settings.radio.environmentSeed, Purpose.excess.rawValue, anchor.identity.seed,
            UInt64(bitPattern: column), UInt64(bitPattern: row))
        let isReflected = generator.uniform() < (isHidden ? ranges.hiddenExcessShare : ranges.excessShare)
        let length = -ranges.excess * cmath_log(1 - generator.uniform())
        return isReflected ? length : 0
    }
}
