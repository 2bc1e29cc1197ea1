import IndoorVocabulary

/// A filter that removes the readings of a recording that a radio with a duty cycle misses, and inserts the rests.
///
/// The first reading begins the first pass. Other sensors don't rest.
package struct DutyCycleCut: Sendable {
    private var machine: DutyCycleMachine
    /// The latest status of the recorded radio.
    private var recorded: RadioEvent?

    /// Creates a filter before the first reading. The cycle must have no `problems`.
    package init(_ cycle: DutyCycle) { machine = DutyCycleMachine(cycle) }

    /// Returns the next reading, unless it is removed, behind the passes that began and ended before it.
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
            // A recorded radio that begins to receive during a rest is delivered with the next pass.
            if machine.isScanning || event.status.isFailure { readings.append(reading) }
        case .motion, .step, .pressure, .gnss, .fix, .range: readings.append(reading)
        }
        return readings
    }

    /// Returns the status at the beginning of a pass: the recorded radio may be off.
    private func beginning(at instant: Instant) -> RadioEvent {
        var event = recorded ?? RadioEvent(instant: instant, status: .scanning)
        event.instant = instant
        if event.status == .resting { event.status = .scanning }
        return event
    }
}
