/// One thing that a device sensed: whatever a source delivers and a recording keeps.
public enum SensorReading: Hashable, Sendable {
    /// A known beacon format was heard.
    case sighting(Sighting)
    /// Raw advertising data was heard.
    case advertisement(Advertisement)
    /// The inertial sensors were read.
    case motion(MotionSample)
    /// The device found a step.
    case step(Step)
    /// The barometer was read.
    case pressure(PressureSample)
    /// A satellite receiver gave a position.
    case gnss(GNSSFix)
    /// A position was given from outside.
    case fix(Fix)
    /// The radio began or ceased to hear.
    case radio(RadioEvent)

    /// When it was sensed.
    public var instant: Instant {
        switch self {
        case .sighting(let sighting): sighting.instant
        case .advertisement(let advertisement): advertisement.instant
        case .motion(let sample): sample.instant
        case .step(let step): step.instant
        case .pressure(let sample): sample.instant
        case .gnss(let fix): fix.instant
        case .fix(let fix): fix.instant
        case .radio(let event): event.instant
        }
    }
}
