import IndoorPositioning
import VenueModel

extension Localizer {
    /// Venues and floor plans that the device comes to and goes from, those it is in first.
    ///
    /// It tells nothing that `states` would not; of what nobody takes, the newest 1024 elements are kept.
    public nonisolated var visits: AsyncStream<VisitEvent> {
        let states = states
        let (stream, continuation) = AsyncStream.makeStream(
            of: VisitEvent.self, bufferingPolicy: .bufferingNewest(1024))
        let watch = Task {
            var machine = VisitMachine()
            for await state in states {
                for event in machine.handle(state) { continuation.yield(event) }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in watch.cancel() }
        return stream
    }

    /// How far the calibration can be relied on: the present quality at once, then each other one that it comes to have.
    public nonisolated var calibrationQualities: AsyncStream<Calibration.Quality> {
        qualities(positions, of: self) { await $0.calibration.quality }
    }
}

extension FloorPlanLocalizer {
    /// How far the calibration can be relied on: the present quality at once, then each other one that it comes to have.
    public nonisolated var calibrationQualities: AsyncStream<Calibration.Quality> {
        qualities(positions, of: self) { await $0.calibration.quality }
    }
}

/// Asks for the quality at once, and behind each position; what is learned is learned with those.
private func qualities<Source: AnyObject & Sendable>(
    _ positions: AsyncStream<Position>, of source: Source,
    _ quality: @escaping @Sendable (Source) async -> Calibration.Quality
) -> AsyncStream<Calibration.Quality> {
    let (stream, continuation) = AsyncStream.makeStream(
        of: Calibration.Quality.self, bufferingPolicy: .bufferingNewest(16))
    let watch = Task { [weak source] in
        var told: Calibration.Quality?
        func tell() async {
            guard let source else { return }
            let present = await quality(source)
            if present != told { continuation.yield(present) }
            told = present
        }
        await tell()
        for await _ in positions { await tell() }
        continuation.finish()
    }
    continuation.onTermination = { _ in watch.cancel() }
    return stream
}
