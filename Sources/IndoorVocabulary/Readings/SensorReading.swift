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
        get {
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
        set {
            switch self {
            case .sighting(var sighting):
                sighting.instant = newValue
                self = .sighting(sighting)
            case .advertisement(var advertisement):
                advertisement.instant = newValue
                self = .advertisement(advertisement)
            case .motion(var sample):
                sample.instant = newValue
                self = .motion(sample)
            case .step(var step):
                step.instant = newValue
                self = .step(step)
            case .pressure(var sample):
                sample.instant = newValue
                self = .pressure(sample)
            case .gnss(var fix):
                fix.instant = newValue
                self = .gnss(fix)
            case .fix(var fix):
                fix.instant = newValue
                self = .fix(fix)
            case .radio(var event):
                event.instant = newValue
                self = .radio(event)
            }
        }
    }
}
