import IndoorLocalization
import XCTest

/// A test of the diagnoses of a session.
class DiagnosisTestCase: XCTestCase {
    /// An emitted reason and its instant in seconds.
    struct Emitted: Equatable, CustomStringConvertible {
        var seconds: Double
        var reason: SessionDiagnosis.Reason
        var description: String { "\(reason) at \(seconds)" }

        init(_ seconds: Double, _ reason: SessionDiagnosis.Reason) {
            self.seconds = seconds
            self.reason = reason
        }
    }

    /// A machine that reports diagnoses, with all that it has emitted.
    struct Story<Belief: PositioningBelief> {
        typealias Session = LocalizationMachine<Belief>

        var machine: Session
        var diagnoses: [SessionDiagnosis] = []
        var emitted: [Emitted] = []

        /// Handles the events at their seconds, and all wake-ups until `end`.
        mutating func play(_ events: [(Double, Session.Event)] = [], to end: Double) {
            for (seconds, event) in events {
                while let wake = machine.nextWake, wake < Instant(seconds: seconds) { handle(.tick, at: wake) }
                handle(event, at: Instant(seconds: seconds))
            }
            while let wake = machine.nextWake, wake <= Instant(seconds: end) { handle(.tick, at: wake) }
        }

        private mutating func handle(_ event: Session.Event, at now: Instant) {
            for case .diagnose(let diagnosis) in machine.handle(event, at: now) {
                diagnoses.append(diagnosis)
                emitted.append(Emitted(now.seconds, diagnosis.reason))
            }
        }

        func diagnosis(at seconds: Double) -> SessionDiagnosis { machine.diagnosis(at: Instant(seconds: seconds)) }

        /// Returns the diagnosis from all readings of the search.
        func wholeDiagnosis(at seconds: Double) -> SessionDiagnosis {
            machine.diagnosis(at: Instant(seconds: seconds), ofSearch: true)
        }
    }

    func story(
        in stage: SessionStage.Stage, _ settings: LocalizationSettings = LocalizationSettings()
    ) -> Story<FixBelief> {
        Story(machine: SessionStage.machine(in: stage, settings, reportsDiagnosis: true))
    }

    func radio(_ status: RadioEvent.Status, at seconds: Double) -> (Double, Machine.Event) {
        let event = RadioEvent(instant: Instant(seconds: seconds), status: status, adapter: "hci0")
        return (seconds, .reading(.radio(event)))
    }

    func heard(
        _ venue: UInt16, _ minor: UInt16 = 1, from begin: Double, to end: Double, rssi: Double = -60
    ) -> [(Double, Machine.Event)] {
        stride(from: begin, through: end, by: 0.5).map {
            ($0, .reading(SessionStage.heard(venue, minor, at: $0, rssi: rssi)))
        }
    }
}
