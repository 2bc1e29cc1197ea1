/// A detector of disturbances of the Earth's magnetic field, which make a compass wrong.
///
/// Iron and currents bend and strengthen the field. The detector accepts a field while its strength is within the
/// Earth's range, and strength and dip are close to the usual ones. Source: M. H. Afzal, V. Renaudin, G. Lachapelle,
/// *Magnetic Field Based Heading Estimation for Pedestrian Navigation Environments*, IPIN 2011; the Earth's range, 22
/// to 67 µT: NOAA, *The US/UK World Magnetic Model for 2020-2025*.
struct MagneticDisturbanceDetector: Hashable, Sendable {
    private static let strongest = 67.0
    private static let weakest = 22.0
    /// The maximum difference of an accepted strength from the usual one, as a share.
    private static let strengthShare = 0.15
    /// The maximum difference of an accepted dip from the usual one, in radians.
    private static let dipRange = 0.2
    /// The time constant in seconds with which a steady field becomes the usual one.
    private static let settling = 20.0
    /// The time in seconds for which the field must be steady before it is accepted again.
    private static let calm = 1.0

    private var strength: Double?
    private var dip = 0.0
    private var calmFor = MagneticDisturbanceDetector.calm

    /// Whether the latest field was disturbed.
    private(set) var isDisturbed = false

    /// Handles the strength of a field in µT and its dip in radians, `seconds` after the previous one.
    mutating func observe(strength length: Double, dip angle: Double, after seconds: Double) {
        guard length.isFinite, (Self.weakest...Self.strongest).contains(length) else {
            isDisturbed = true
            calmFor = 0
            return
        }
        guard let usual = strength else {
            (strength, dip) = (length, angle)
            isDisturbed = false
            return
        }
        let isUsual = abs(length - usual) < Self.strengthShare * usual && abs(angle - dip) < Self.dipRange
        calmFor = isUsual ? calmFor + seconds : 0
        isDisturbed = calmFor < Self.calm
        // A persistent unusual field, such as the field in another building, becomes the usual one.
        let share = min(1, seconds / Self.settling)
        strength = usual + share * (length - usual)
        dip += share * (angle - dip)
    }
}
