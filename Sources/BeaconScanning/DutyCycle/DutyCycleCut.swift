import IndoorVocabulary

/// Leaves out of a recording what a radio with a duty cycle would not have heard, and tells when that radio rests.
///
/// The first reading begins the first pass. Other sensors do not rest.
package struct DutyCycleCut: Sendable {
    private var machine: DutyCycleMachine
    /// What the recording told last of its own radio.
    private var recorded: RadioEvent?

    /// Creates a cut that has seen no reading. The cycle must have no `problems`.
    package init(_ cycle: DutyCycle) { machine = DutyCycleMachine(cycle) }

    /// What is left of the next reading, behind the passes that began and ended before it.
    package mutating func handle(_ reading: SensorReading) -> [SensorReading] {
        _ = machine.handle(.start, at: reading.instant)
        var readings = machine.catchUp(to: reading.instant).map { instant, directive in
            switch directive {
            case .beginPass: SensorReading.radio(beginning(at: instant))
            case .endPass: SensorReading.radio(RadioEvent(instant: instant, status: .resting))
            }
        }
        switch reading {
        case .sighting, .advertisement: if machine.isScanning { readings.append(reading) }
        case .radio(let event):
            recorded = event
            // A radio that is found to hear while it rests is not heard before the next pass.
            if machine.isScanning || event.status.isFailure { readings.append(reading) }
        case .motion, .step, .pressure, .gnss, .fix: readings.append(reading)
        }
        return readings
    }

    /// What a pass begins with: the recording's radio may be off.
    private func beginning(at instant: Instant) -> RadioEvent {
        var event = recorded ?? RadioEvent(instant: instant, status: .scanning)
        event.instant = instant
        if event.status == .resting { event.status = .scanning }
        return event
    }
}
