import IndoorPositioning
import VenueModel

extension Localizer {
    /// A stream of the venues and floor plans that the device enters and leaves, beginning with the current ones.
    ///
    /// A visit of a venue begins with its first beacon, or with the first position inside. Satellite positions near the
    /// venue don't begin one; ``downloadedVenues`` emits the venue that they identified. The stream buffers the newest
    /// 1024 visits.
    public nonisolated var visits: AsyncStream<VisitEvent> {
        let (states, elements) = (datedStateBroadcast.subscribe(), derivedElements)
        let (stream, continuation) = AsyncStream.makeStream(
            of: VisitEvent.self, bufferingPolicy: .bufferingNewest(1024))
        let watch = Task {
            var machine = VisitMachine()
            for await state in states {
                for event in machine.handle(state.state, at: state.instant) { elements.send(event, to: continuation) }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in watch.cancel() }
        return stream
    }

    /// A stream of the calibration's quality, beginning with the current one. It emits each change.
    public nonisolated var calibrationQualities: AsyncStream<Calibration.Quality> {
        qualities(positions, of: self, derivedElements) { await $0.calibration.quality }
    }
}

extension FloorPlanLocalizer {
    /// A stream of the calibration's quality, beginning with the current one. It emits each change.
    public nonisolated var calibrationQualities: AsyncStream<Calibration.Quality> {
        qualities(positions, of: self, derivedElements) { await $0.calibration.quality }
    }
}

/// Returns a stream of the quality. It reads the quality at once and after each position, which may change it.
private func qualities<Source: AnyObject & Sendable>(
    _ positions: AsyncStream<Position>, of source: Source, _ elements: DerivedElements,
    _ quality: @escaping @Sendable (Source) async -> Calibration.Quality
) -> AsyncStream<Calibration.Quality> {
    let (stream, continuation) = AsyncStream.makeStream(
        of: Calibration.Quality.self, bufferingPolicy: .bufferingNewest(16))
    let watch = Task { [weak source] in
        var published: Calibration.Quality?
        func publish() async {
            guard let source else { return }
            let present = await quality(source)
            if present != published { elements.send(present, to: continuation) }
            published = present
        }
        await publish()
        for await _ in positions { await publish() }
        continuation.finish()
    }
    continuation.onTermination = { _ in watch.cancel() }
    return stream
}
