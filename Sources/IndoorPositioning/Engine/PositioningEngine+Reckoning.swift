import CMath
import VenueModel

extension PositioningEngine {
    /// What a second outside all that is walkable leaves of a guess's probability: a fix may lie beside a plan.
    private static let outsideShare = 0.05

    /// Metres of error a metre of way that walls hide: steps that lead into one choose a wrong door, and no beacon tells.
    private static let hiddenError = 0.1

    /// Carries a belief that began with a fix on by motion and pressure alone: no beacon was heard so far.
    ///
    /// Without a barometer the floor stays, however long: nothing tells of another one. What was heard once, weighs maps and
    /// places from then on, and silence too.
    mutating func reckon(after seconds: Double) {
        guard settings.method == .particle, !filter.isEmpty, seconds > 0 else { return }
        if let height = pressure.drainHeight() {
            pressureGap += seconds
            levelFilter.observe(
                evidence: field.maps.map { _ in 0 }, height: height, after: pressureGap, canBeMistaken: false)
            pressureGap = 0
        } else {
            pressureGap += seconds
        }
        confine(after: seconds)
        filter.carry(to: mapShares, by: links)
        filter.resampleIfNeeded(mapCount: field.maps.count)
    }

    /// Makes guesses improbable that lie off the plan, or outside its walkable areas.
    ///
    /// Beacons tell who has left the building. Without any, a guess that went out where no wall is drawn would be left alone
    /// by walls, and outlive those inside.
    private mutating func confine(after seconds: Double) {
        let share = Float(cmath_pow(Self.outsideShare, seconds))
        for (mapIndex, sheet) in field.maps.enumerated() where filter.hasParticles(on: mapIndex) {
            space.survey(mapIndex, by: sheet.grid)
            let space = space
            filter.weigh(mapIndex: mapIndex, by: share) { !space.contains($0, mapIndex: mapIndex, by: sheet.grid) }
        }
    }

    /// The radius of a belief that walls have narrowed along a way without any beacon.
    func reckonedRadius(_ radius: Double, mapIndex: Int) -> Double {
        guard !filter.walls[mapIndex].isEmpty else { return radius }
        let hidden = Self.hiddenError * reckonedWay
        return (radius * radius + hidden * hidden).squareRoot()
    }
}
