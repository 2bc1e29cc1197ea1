import CMath
import IndoorLocalization

/// The radio channel from one beacon to the device: the formula of `RadioSettings`.
struct RadioChannel: Sendable {
    /// The lower limit of distances in metres: the log-distance model has no near field.
    private static let smallestDistance = 0.1

    /// The beacon as the venue packet describes it.
    let beacon: VenueBeacon
    /// The true values of P₁ and n.
    let power: Double
    let exponent: Double

    private let settings: RadioSettings
    private let level: Double
    /// The height in metres above the ground floor.
    private let height: Double
    private let walls: WallCrossings
    private let shadowing: [MapID: CorrelatedField]
    private let openFading: RicianFading
    private let hiddenFading = RicianFading(factor: 0)

    init(to beacon: VenueBeacon, on map: VenueMap, of venue: Venue, _ settings: RadioSettings) {
        self.beacon = beacon
        self.settings = settings
        var generator = SeededGenerator.stream(settings.environmentSeed, Purpose.beacon.rawValue, beacon.identity.seed)
        power = (beacon.measuredPower ?? settings.power) + settings.powerDeviation * generator.normal()
        let known = beacon.pathLossExponent ?? settings.exponent
        exponent = max(known + settings.exponentDeviation * generator.normal(), 1)
        level = Double(map.level)
        height =
            (map.elevation ?? level * WalkTimeline.usualFloorHeight) + (beacon.z ?? settings.beaconHeight)
        walls = WallCrossings(of: map)
        var fields: [MapID: CorrelatedField] = [:]
        for map in venue.maps {
            let mapPart = UInt64(bitPattern: Int64(map.id.rawValue))
            let parts = [settings.environmentSeed, Purpose.shadowing.rawValue, beacon.identity.seed, mapPart]
            fields[map.id] = CorrelatedField(
                deviation: settings.shadowing, distance: settings.shadowingDistance,
                seed: SeededGenerator.seed(parts))
        }
        shadowing = fields
        openFading = RicianFading(factor: cmath_pow(10, settings.ricianFactor / 10))
    }

    /// Returns the RSSI of one advertisement in dBm, before rounding and before the sensitivity threshold.
    func rssi(at pose: WalkTimeline.Pose, using generator: inout SeededGenerator) -> Double {
        let horizontal = pose.point.distance(to: beacon.point)
        let vertical = height - pose.height - settings.deviceHeight
        let distance = max(cmath_hypot(horizontal, vertical), Self.smallestDistance)
        let crossed = pose.mapID == beacon.mapID ? walls.count(from: pose.point, to: beacon.point) : 0
        let floors = abs(pose.level - level)
        let isOpen = crossed == 0 && floors < 0.5
        // The number is drawn even if it is not used, so that a setting does not change the random numbers that follow.
        let fading = (isOpen ? openFading : hiddenFading).decibels(using: &generator)
        return power - 10 * exponent * cmath_log10(distance)
            + (shadowing[pose.mapID]?.value(at: pose.point) ?? 0)
            - Double(crossed) * settings.wallLoss - floors * settings.floorLoss
            - bodyLoss(at: pose) * min(horizontal / distance, 1)
            + (settings.isFading ? fading : 0) + settings.receiverOffset
    }

    private func bodyLoss(at pose: WalkTimeline.Pose) -> Double {
        guard let direction = (beacon.point - pose.point).course else { return 0 }
        return settings.bodyLoss * (1 - cmath_cos((direction - pose.heading) * .pi / 180)) / 2
    }

    /// Returns the probability that the device receives an advertisement with this RSSI.
    static func chance(ofReceiving rssi: Double, _ settings: RadioSettings) -> Double {
        (1 - settings.lossShare) / (1 + cmath_exp((settings.sensitivity - rssi) / settings.sensitivityWidth))
    }
}

/// The purposes of random numbers; each has a separate stream.
enum Purpose: UInt64 {
    case beacon = 1
    case shadowing, advertising, death, motion, compass, steps, pressure, gnss, ranging, excess
}
