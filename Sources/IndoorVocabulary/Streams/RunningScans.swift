/// A count of the scans that use a radio or sensors, which callers can wait on.
///
/// A class because the copies of a source and its scans share it.
package final class RunningScans: Sendable {
    private struct State: Sendable {
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())

    /// Creates a count without scans.
    package init() {}

    /// Records that a scan begins.
    package func began() { state.withLock { $0.count += 1 } }

    /// Records that a scan no longer uses the radio or the sensors.
    package func ended() {
        let waiting = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until no scan runs.
    package func allEnded() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.count > 0 { state.waiting.append(continuation) }
                return state.count == 0
            }
            if isOver { continuation.resume() }
        }
    }
}
