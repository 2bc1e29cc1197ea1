import IndoorVocabulary
import LiveSurvey
import LocalizationSession
import TagTracking
import VenueModel

/// A fleet whose tags people carry on the walks of a survey.
package struct SurveyedFleet: SurveyedSystem {
    private let engine: FleetEngine
    private let register: @Sendable () -> TagRegister

    /// The time between two steps of a fleet on a recorded walk.
    private static let step = Duration.milliseconds(500)

    /// Creates the system of an engine.
    ///
    /// - Parameter register: returns the present tags with their classes and powers.
    package init(_ engine: FleetEngine, register: @escaping @Sendable () -> TagRegister = { TagRegister() }) {
        (self.engine, self.register) = (engine, register)
    }

    package var venue: Venue { engine.model.venue }

    package var hasTags: Bool { true }

    package func carrier(named tag: String?) -> SurveyCarrier? {
        tag.flatMap { TagKey($0) }.map { .tag($0.description) }
    }

    package func hears(_ carrier: SurveyCarrier) async -> Bool {
        guard let tag = carrier.tag.flatMap({ TagKey($0) }) else { return false }
        return await !engine.hearings(of: tag).isEmpty
    }

    package func report(readingsOf carriers: Set<SurveyCarrier>) async {
        await engine.report(readingsOf: Set(carriers.compactMap { $0.tag.flatMap { TagKey($0) } }), to: .survey)
    }

    package func use(
        _ venue: Venue, preparedAt priority: BackgroundThread.Priority
    ) async throws(SurveyedSystemError) {
        let settings = engine.model.settings
        let model = await BackgroundThread.run(at: priority) { _ in FleetModel(venue: venue, settings: settings) }
        do throws(FleetSnapshotError) { try await engine.use(model) } catch {
            throw SurveyedSystemError(
                "The packet was written, but the tags don't use it yet: \(error) Start the process again.")
        }
    }

    /// Returns readings of tags for a desk. A reading of a receiver that the venue doesn't have is left out.
    package func surveyed(_ readings: [TagReading]) -> [SurveyReading] {
        readings.compactMap { reading in
            engine.model.sighting(of: reading).map { SurveyReading(of: .tag(reading.tag.description), $0) }
        }
    }

    package func locating() -> @Sendable (Venue) -> Locating { Self.locating(engine.model.settings, register()) }

    /// Returns what locates tags in a venue as a fleet does.
    package static func locating(
        _ settings: FleetSettings, _ register: TagRegister
    ) -> @Sendable (Venue) -> Locating {
        { venue in
            let model = FleetModel(venue: venue, settings: settings)
            return { positions(on: $0, by: FleetMachine(model: model, register: register)) }
        }
    }

    /// Returns the positions of the tag on a walk, as the fleet reports them.
    private static func positions(on walk: SurveyRecording, by machine: FleetMachine) -> [Position] {
        let model = machine.model
        let names = Dictionary(
            model.venue.receivers.map { ($0.identity, $0.id) }, uniquingKeysWith: { first, _ in first })
        let tag = walk.device.flatMap { TagKey($0) } ?? .name("survey")
        var machine = machine
        var outputs: [FleetOutput] = []
        var rest = walk.sightings[...]
        guard var now = rest.first?.instant else { return [] }
        let end = walk.end.advanced(by: model.settings.reorderWindow + step)
        while now < end {
            now = now.advanced(by: step)
            while let sighting = rest.first, sighting.instant <= now {
                rest.removeFirst()
                guard let name = names[sighting.beacon] else { continue }
                machine.observe(TagReading(tag: tag, receiver: name, instant: sighting.instant, rssi: sighting.rssi))
            }
            outputs += machine.advance(to: now)
        }
        return outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
    }
}

/// Passes what receivers hear of the tags to the walks with them.
package struct FleetSurveySink: FleetOutputSink {
    private let fleet: SurveyedFleet
    private let desk: SurveyDesk

    /// Creates a sink for the desk of a fleet.
    package init(_ fleet: SurveyedFleet, _ desk: SurveyDesk) { (self.fleet, self.desk) = (fleet, desk) }

    package func write(_ outputs: [FleetOutput]) async {}

    package func write(_ readings: [TagReading]) async { await desk.add(fleet.surveyed(readings)) }
}
