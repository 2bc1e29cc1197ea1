/// One reading of a scan source, as recordings store it.
public enum SensorReading: Hashable, Sendable {
    /// The radio received a beacon of a known format.
    case sighting(Sighting)
    /// The radio received an advertisement.
    case advertisement(Advertisement)
    /// A sample of the inertial sensors.
    case motion(MotionSample)
    /// The device detected a step.
    case step(Step)
    /// A sample of the barometer.
    case pressure(PressureSample)
    /// A position from a satellite receiver.
    case gnss(GNSSFix)
    /// A position from outside the package.
    case fix(Fix)
    /// A measured distance to an anchor.
    case range(RangeReading)
    /// The status of the radio changed.
    case radio(RadioEvent)

    /// The time of the reading.
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
            case .range(let range): range.instant
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
            case .range(var range):
                range.instant = newValue
                self = .range(range)
            case .radio(var event):
                event.instant = newValue
                self = .radio(event)
            }
        }
    }
}
