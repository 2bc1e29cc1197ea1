import Dispatch
import IndoorLocalizationTesting
import IndoorVocabulary
import LiveSurvey
import VenueModel
import XCTest

/// A building in which a carrier walks for a survey, and what its map is learned with.
protocol StagedWalks: Sendable {
    var carrier: SurveyCarrier { get }
    var desk: SurveyDesk { get }
    var maps: SurveyMapDesk { get }

    /// Walks on the ground floor.
    ///
    /// - Parameter mark: called when the carrier is at a point of the path.
    /// - Returns: the errors of the positions in metres.
    @discardableResult
    func walk(_ points: [(Double, Double)], seed: UInt64, mark: (MapPoint) throws -> Void) throws -> [Double]
}

private final class Answer<Value: Sendable>: Sendable {
    private let stored = Guarded<Value?>(nil)
    var value: Value? { stored.withLock { $0 } }
    func set(_ value: Value) { stored.withLock { $0 = value } }
}

private struct NoMap: Error {}

extension StagedWalks {
    /// Runs an operation of actors to its end.
    @discardableResult
    func ask<Value: Sendable>(_ operation: @escaping @Sendable () async -> Value) throws -> Value {
        let done = DispatchSemaphore(value: 0)
        let answer = Answer<Value>()
        Task.detached {
            answer.set(await operation())
            done.signal()
        }
        done.wait()
        return try XCTUnwrap(answer.value)
    }

    /// Walks along points, and marks them without the page.
    func survey(_ points: [(Double, Double)], seed: UInt64) throws {
        let carrier = carrier
        try order { desk throws(SurveyDesk.Refusal) in try await desk.start(with: carrier) }
        try walk(points, seed: seed) { point in
            try order { desk throws(SurveyDesk.Refusal) in
                try await desk.mark(carrier, at: point, on: 1, delay: .zero)
            }
        }
        try order { desk throws(SurveyDesk.Refusal) in try await desk.stop(with: carrier) }
    }

    /// Changes walks; throws the refusal.
    private func order(_ change: @escaping @Sendable (SurveyDesk) async throws(SurveyDesk.Refusal) -> Void) throws {
        let refusal = try ask { [desk] () -> SurveyDesk.Refusal? in
            do throws(SurveyDesk.Refusal) { try await change(desk) } catch { return error }
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Waits for the end of the learning.
    func waitForMap() throws -> SurveyMapDesk.Status {
        let start = ContinuousClock.now
        while start.duration(to: .now) < Bounded.longest {
            let status = try ask { [maps] in await maps.status }
            if status.machine.progress == nil, !status.machine.isChanging { return status }
            usleep(20_000)
        }
        throw NoMap()
    }
}
