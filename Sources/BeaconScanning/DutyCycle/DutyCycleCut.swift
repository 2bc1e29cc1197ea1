import IndoorVocabulary

/// A filter that removes the readings of a recording that a radio with a duty cycle would miss, and inserts the status
/// changes at its rests.
///
/// The first reading begins the first pass. Other sensors don't rest.
package struct DutyCycleCut: Sendable {
    private var machine: DutyCycleMachine
    /// The latest status of the recorded radio.
    private var recorded: RadioEvent?

    /// Creates a filter before the first reading. The cycle must have no `problems`.
    package init(_ cycle: DutyCycle) { machine = DutyCycleMachine(cycle) }

    /// Returns the status changes of passes that began or ended before a reading, followed by the reading unless it is
    /// removed.
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
            // If a recorded radio begins to receive during a rest, the next pass delivers this status.
            if machine.isScanning || event.status.isFailure { readings.append(reading) }
        case .motion, .step, .pressure, .gnss, .fix, .range: readings.append(reading)
        }
        return readings
    }

    /// Returns the status at the beginning of a pass: that of the recorded radio, which may be off.
    private func beginning(at instant: Instant) -> RadioEvent {
        var event = recorded ?? RadioEvent(instant: instant, status: .scanning)
        event.instant = instant
        if event.status == .resting { event.status = .scanning }
        return event
    }
}
