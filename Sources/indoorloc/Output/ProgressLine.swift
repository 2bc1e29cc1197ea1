import Foundation
import Synchronization

/// Tells a person at a terminal how far something is that takes longer than a second.
final class ProgressLine: Sendable {  // a class, as parallel work shares it
    private struct State {
        var shown = 0
        var nextAt = ContinuousClock.now + .seconds(1)
    }

    private let isShown: Bool
    private let state = Mutex(State())

    init(isShown: Bool = StandardError.isTerminal) { self.isShown = isShown }

    /// Shows the text if it is time for it: after the first second, five times a second.
    func show(_ text: @autoclosure () -> String) {
        guard isShown else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            guard now >= state.nextAt else { return }
            state.nextAt = now + .milliseconds(200)
            let line = text()
            StandardError.writeAsIs("\r" + line + String(repeating: " ", count: max(0, state.shown - line.count)))
            state.shown = line.count
        }
    }

    /// Takes the line away, before anything else is written.
    func clear() {
        state.withLock { state in
            guard state.shown > 0 else { return }
            StandardError.writeAsIs("\r" + String(repeating: " ", count: state.shown) + "\r")
            state.shown = 0
        }
    }
}
