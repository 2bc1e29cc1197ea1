import IndoorLocalization
import TagTracking
import TagTrackingService

/// The recording of tags that move, beside the fleet: `track --record`.
///
/// Readings wait in a buffer for the disk, so that a slow disk never delays the fleet.
actor TagRecorder: FleetOutputSink {
    private enum Event: Sendable {
        case heard(TagKey, Sighting)
        case ended(TagKey)
    }

    private nonisolated let engine: FleetEngine
    private nonisolated let events: AsyncStream<Event>
    private nonisolated let waiting: AsyncStream<Event>.Continuation
    private nonisolated let lost = LostReadings()
    private var selection: RecordedTags

    /// Creates a recorder of the tags of a fleet.
    ///
    /// - Parameter capacity: the maximum number of readings that wait for the disk.
    init(_ engine: FleetEngine, limits: RecordedTags.Limits = RecordedTags.Limits(), capacity: Int = 65_536) {
        self.engine = engine
        selection = RecordedTags(limits: limits)
        (events, waiting) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(capacity))
    }

    /// Writes the recordings until the task is cancelled, or `close()` is called.
    nonisolated func run(_ makeRecordings: @Sendable () -> TagRecordings) async {
        let recordings = makeRecordings()
        for await event in events {
            switch event {
            case .heard(let tag, let sighting): recordings.write(sighting, of: tag)
            case .ended(let tag): recordings.end(tag)
            }
        }
        recordings.finish()
        if lost.total > 0 { StandardError.line("--record: \(lost.total.counting("reading")) lost", .warning) }
    }

    /// Ends the recordings after what waits.
    nonisolated func close() { waiting.finish() }

    func write(_ outputs: [FleetOutput]) async {
        let before = selection.tags
        for output in outputs { selection.add(output) }
        guard let now = outputs.last?.instant else { return }
        for tag in selection.advance(to: now) { waiting.yield(.ended(tag)) }
        if selection.tags != before { await engine.report(readingsOf: selection.tags, to: .recordings) }
    }

    func write(_ readings: [TagReading]) async {
        for reading in readings where selection.tags.contains(reading.tag) {
            guard let sighting = engine.model.sighting(of: reading) else { continue }
            if case .dropped = waiting.yield(.heard(reading.tag, sighting)) { lost.add() }
        }
    }

    func use(register: TagRegister, removing tags: [TagKey]) async {
        let before = selection.tags
        selection.remove(tags)
        for tag in before.subtracting(selection.tags).sorted() { waiting.yield(.ended(tag)) }
        if selection.tags != before { await engine.report(readingsOf: selection.tags, to: .recordings) }
    }
}
