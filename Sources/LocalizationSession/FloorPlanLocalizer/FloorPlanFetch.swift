import IndoorVocabulary
import VenueModel

/// Something that is being fetched: it can be watched, awaited by any number of callers, and cancelled.
///
///     let fetch = venues.fetchFloorPlan(10, of: 1)
///     let plan = try await fetch.value
///     let image = try await plan.fetchImage(with: reader).value
///
/// A class, as it is one fetch for all who hold it. It goes on when nobody holds it any more.
public final class FloorPlanFetch<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var isOver = false
        var task: Task<Void, Never>?
    }

    private let outcomes = Broadcast<Result<Value, FloorPlanError>>(.unbounded, replaysLatest: true)
    private let fractions = Broadcast<Double>(.bufferingNewest(64), replaysLatest: true)
    private let state = Guarded(State())

    /// Begins to fetch.
    init(_ fetch: @escaping @Sendable (_ progress: @escaping @Sendable (Double) -> Void) async throws -> Value) {
        let task = Task {
            do {
                let value = try await fetch { [self] fraction in advance(to: fraction) }
                end(with: .success(value))
            } catch let error as FloorPlanError {
                end(with: .failure(error))
            } catch is CancellationError {
                end(with: .failure(.cancelled))
            } catch {
                end(with: .failure(.failed(LocalizationError(reporting: error, code: .generic, "the fetch failed"))))
            }
        }
        state.withLock { state in if !state.isOver { state.task = task } }
    }

    /// What was fetched, as soon as it is there.
    ///
    /// - Throws: `FloorPlanError`: `cancelled` after `cancel()`, at once, whatever the source does.
    public var value: Value {
        get async throws(FloorPlanError) {
            for await outcome in outcomes.subscribe() { return try outcome.get() }
            // Who waits was cancelled; the fetch was not.
            throw .cancelled
        }
    }

    /// The fraction that is there, from 0 to 1, never decreasing: the latest one first. It ends with the fetch.
    public var progress: AsyncStream<Double> {
        let stream = fractions.subscribe()
        if state.withLock({ $0.isOver }) { fractions.finish() }
        return stream
    }

    /// Ends the fetch; if it is over already, nothing happens.
    public func cancel() {
        let task = state.withLock { $0.task }
        end(with: .failure(.cancelled))
        task?.cancel()
    }

    private func advance(to fraction: Double) {
        if !state.withLock({ $0.isOver }) { fractions.send(fraction) }
    }

    private func end(with outcome: Result<Value, FloorPlanError>) {
        let isFirst = state.withLock { state in
            defer { state = State(isOver: true) }
            return !state.isOver
        }
        guard isFirst else { return }
        outcomes.send(outcome)
        fractions.finish()
    }
}

extension VenueSource {
    /// Begins to fetch the plan of one floor of a venue.
    public func fetchFloorPlan(_ map: MapID, of venue: VenueID) -> FloorPlanFetch<FloorPlan> {
        FloorPlanFetch { progress in
            guard let plan = try await packet(for: venue, progress: progress).floorPlan(map) else {
                throw FloorPlanError.unknownMap(map, venue)
            }
            return plan
        }
    }
}

extension FloorPlan {
    /// Begins to read the bytes of the plan's image.
    public func fetchImage(with reader: some PlanImageReader) -> FloorPlanFetch<[UInt8]> {
        let (map, path) = (mapID, map.imagePath)
        return FloorPlanFetch { progress in
            guard let path else { throw FloorPlanError.noImage(map) }
            return try await reader.image(at: path, progress: progress)
        }
    }
}
