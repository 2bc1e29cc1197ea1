import IndoorVocabulary
import VenueModel

/// An asynchronous fetch with progress, which any number of callers can await, and which can be cancelled.
///
///     let fetch = venues.fetchFloorPlan(10, of: 1)
///     let plan = try await fetch.value
///     let image = try await plan.fetchImage(with: reader).value
///
/// This type is a class because all its users share one fetch. The fetch continues after the last reference is
/// released.
public final class FloorPlanFetch<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var isOver = false
        var task: Task<Void, Never>?
    }

    private let outcomes = Broadcast<Result<Value, FloorPlanError>>(.unbounded, replaysLatest: true)
    private let fractions = Broadcast<Double>(.bufferingNewest(64), replaysLatest: true)
    private let state = Guarded(State())

    /// Starts the fetch.
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

    /// The fetched value. Reading this property waits for the end of the fetch.
    ///
    /// - Throws: `FloorPlanError`. After ``cancel()``, this is `cancelled` at once, even if the source is still busy.
    public var value: Value {
        get async throws(FloorPlanError) {
            for await outcome in outcomes.subscribe() { return try outcome.get() }
            // The waiting task was cancelled; the fetch was not.
            throw .cancelled
        }
    }

    /// A stream of the fetched fraction, from 0 to 1, never decreasing.
    ///
    /// The stream begins with the latest fraction and ends with the fetch.
    public var progress: AsyncStream<Double> {
        let stream = fractions.subscribe()
        if state.withLock({ $0.isOver }) { fractions.finish() }
        return stream
    }

    /// Cancels the fetch. Does nothing after its end.
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
    /// Starts to fetch the plan of one floor of a venue.
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
    /// Starts to read the bytes of the plan's image.
    public func fetchImage(with reader: some PlanImageReader) -> FloorPlanFetch<[UInt8]> {
        let (map, path) = (mapID, map.imagePath)
        return FloorPlanFetch { progress in
            guard let path else { throw FloorPlanError.noImage(map) }
            return try await reader.image(at: path, progress: progress)
        }
    }
}
