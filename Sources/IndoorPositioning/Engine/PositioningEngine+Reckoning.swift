import CMath
import VenueModel

extension PositioningEngine {
    /// Factor per second on the weight of a particle outside the accessible area. The factor isn't 0 because a fix can
    /// lie outside the plan.
    private static let outsideShare = 0.05

    /// Additional error in metres per metre of walking without beacons on a map with walls: the particles can pass
    /// through the wrong door, and no beacon corrects them.
    private static let hiddenError = 0.1

    /// Continues a belief by dead reckoning after a fix, as long as no beacon has been detected.
    ///
    /// Without a barometer, the floor doesn't change. After the first detected beacon, `advance(to:)` weighs maps and
    /// positions by the beacons, including missing detections.
    mutating func reckon(after seconds: Double) {
        guard settings.method == .particle, !filter.isEmpty, seconds > 0 else { return }
        if let height = pressure.drainHeight() {
            pressureGap += seconds
            floorFilter.observe(
                evidence: field.maps.map { _ in 0 }, height: height, after: pressureGap, canBeMistaken: false)
            pressureGap = 0
        } else {
            pressureGap += seconds
        }
        confine(after: seconds)
        filter.carry(to: mapShares, by: links)
        filter.resampleIfNeeded(mapCount: field.maps.count)
    }

    /// Reduces the weights of particles outside the plan or its walkable areas.
    ///
    /// Without beacons, nothing shows whether the device is still in the building. A particle that leaves through an
    /// unmapped wall meets no further walls, so its weight would exceed the weights of the particles inside.
    private mutating func confine(after seconds: Double) {
        let share = Float(cmath_pow(Self.outsideShare, seconds))
        for (mapIndex, sheet) in field.maps.enumerated() where filter.hasParticles(on: mapIndex) {
            space.survey(mapIndex, by: sheet.grid)
            let space = space
            filter.weigh(mapIndex: mapIndex, by: share) { !space.contains($0, mapIndex: mapIndex, by: sheet.grid) }
        }
    }

    /// Returns the radius, increased by the additional error of dead reckoning on a map with walls.
    func reckonedRadius(_ radius: Double, mapIndex: Int) -> Double {
        guard !filter.walls[mapIndex].isEmpty else { return radius }
        let hidden = Self.hiddenError * reckonedWay
        return (radius * radius + hidden * hidden).squareRoot()
    }
}
