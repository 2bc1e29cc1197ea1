import IndoorLocalization
import IndoorLocalizationTesting
import RecordUpload
import XCTest

/// A sending that ends late, after others have begun.
final class UploadShellTests: XCTestCase {
    /// A start while a stop still waits must not take the answer of the cancelled sending for that of its own.
    func testALateAnswerOfACancelledSendingEndsNoLaterOne() async throws {
        let state = WatchedState(Sendings())
        let sender = SlowSender(state)
        await sender.run(.start(waiting: 1))
        try await Bounded.wait(for: "the sending") { try await state.wait { $0.begun == 1 } }
        let stopping = Task { await sender.stopSending() }
        try await Bounded.wait(for: "the stop") { try await state.wait { $0.cancelled == 1 } }
        await sender.run(.start(waiting: 1))
        state.update { $0.released = 1 }
        try await Bounded.wait(for: "the end of the first sending") { await stopping.value }
        var errors = await sender.errors
        XCTAssertEqual(errors, [])
        try await Bounded.wait(for: "the second sending") { try await state.wait { $0.begun == 2 } }
        XCTAssertEqual(state.value.mostAtOnce, 1)
        state.update { $0.released = 2 }
        await sender.stopSending()
        errors = await sender.errors
        XCTAssertEqual(errors, [])
        XCTAssertEqual(state.value.begun, 2)
    }

    /// A stop right after a destination has rejected elements must not keep them in the queue.
    func testAStopDoesNotUndoARejection() async throws {
        let state = WatchedState(Sendings())
        let sender = SlowSender(state)
        await sender.run(.start(waiting: 1))
        try await Bounded.wait(for: "the sending") { try await state.wait { $0.begun == 1 } }
        await sender.failAndStop(UploadError(.rejected, "the elements are wrong"))
        state.update { $0.released = 1 }
        await sender.stopSending()
        XCTAssertEqual(state.value.rejected, 1)
        let errors = await sender.errors
        XCTAssertEqual(errors, [.rejected])
    }
}

/// The sendings of a `SlowSender` so far.
private struct Sendings: Sendable {
    var (begun, cancelled, ended) = (0, 0, 0)
    var mostAtOnce = 0
    /// The number of rejections.
    var rejected = 0
    /// The number of sendings that may end.
    var released = 0
}

/// A sender whose destination doesn't answer before the test releases it, not even after a cancellation.
private actor SlowSender: UploadShell {
    var upload = UploadRuntime(UploadSettings(), clock: ManualClock(), seed: 1)
    private(set) var errors: [UploadError.Kind] = []
    private let state: WatchedState<Sendings>

    init(_ state: WatchedState<Sendings>) { self.state = state }

    func sendNext(_ size: Int, anew: Bool) async throws -> Int {
        let state = state
        let number = state.update { state in
            state.begun += 1
            state.mostAtOnce = max(state.mostAtOnce, state.begun - state.ended)
            return state.begun
        }
        // A task of its own, which the cancellation doesn't reach.
        let answer = Task { try await state.wait { $0.released >= number } }
        await withTaskCancellationHandler {
            _ = await answer.result
        } onCancel: {
            state.update { $0.cancelled += 1 }
        }
        state.update { $0.ended += 1 }
        if number == 1 { throw UploadError(.unreachable, "the sending was cancelled") }
        return 0
    }

    func rejectLast() async throws -> Int {
        state.update { $0.rejected += 1 }
        return 0
    }

    /// Stops before anything that a failure begins can run.
    func failAndStop(_ error: UploadError) {
        run(.failed(error))
        run(.stop)
    }

    func report(_ error: UploadError) { errors.append(error.kind) }
}
