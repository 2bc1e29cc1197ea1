/// Judges whether the magnetic field is the Earth's, so that a compass can be believed.
///
/// Iron and currents bend and strengthen the field: it is taken for the Earth's while its strength is one that the Earth has,
/// and strength and dip are what they have been. Source: M. H. Afzal, V. Renaudin, G. Lachapelle, *Magnetic Field Based Heading
/// Estimation for Pedestrian Navigation Environments*, IPIN 2011; the Earth's range, 22 to 67 µT: NOAA, *The US/UK
/// World Magnetic Model for 2020-2025*.
struct MagneticDisturbanceDetector: Hashable, Sendable {
    private static let strongest = 67.0
    private static let weakest = 22.0
    /// Share of its strength by which the field may differ from what it was.
    private static let strengthShare = 0.15
    /// Radians by which its dip may differ from what it was.
    private static let dipRange = 0.2
    /// Time constant in seconds with which a steady field becomes the usual one.
    private static let settling = 20.0
    /// The field must have been steady for this many seconds to be believed again.
    private static let calm = 1.0

    private var strength: Double?
    private var dip = 0.0
    private var calmFor = MagneticDisturbanceDetector.calm

    /// Whether the latest field was not the Earth's.
    private(set) var isDisturbed = false

    /// Takes in the strength of a field in µT and its dip in radians, `seconds` after the last one.
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
        // An unusual field becomes the usual one in the end, such as that of another building.
        let share = min(1, seconds / Self.settling)
        strength = usual + share * (length - usual)
        dip += share * (angle - dip)
    }
}
