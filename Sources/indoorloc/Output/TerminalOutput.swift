import Foundation
import Synchronization
import VenuePackets

/// A text that is redrawn in place on the terminal of standard output.
struct TerminalScreen {
    /// Whether standard output is a terminal.
    static var isThere: Bool { isatty(STDOUT_FILENO) == 1 }

    private var drawn = 0

    /// Columns and rows; 80 and 24 if the terminal doesn't report its size.
    var size: (width: Int, height: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Draws the lines over those of the last call.
    ///
    /// Draws nothing while the terminal is stopped, such as with Ctrl-S.
    mutating func draw(_ lines: [String]) throws(OutputError) {
        guard FileDescriptor.isWritable(STDOUT_FILENO, within: 0) else { return }
        var text = drawn > 0 ? "\u{1B}[\(drawn)A" : ""
        for line in lines { text += "\r\(PrintableText.line(line))\u{1B}[K\n" }
        // Erases the rest of a longer drawing.
        text += "\u{1B}[J"
        drawn = lines.count
        try StandardOutput.writeAsIs(text)
    }
}

/// A progress text on the terminal of standard error, for work that takes longer than a second.
final class ProgressLine: Sendable {  // a class, as parallel work shares it
    private struct State {
        var shown = 0
        var nextAt = ContinuousClock.now + .seconds(1)
    }

    private let isShown: Bool
    private let state = Mutex(State())

    init(isShown: Bool = StandardError.isTerminal) { self.isShown = isShown }

    /// Shows the text: after the first second, at most five times a second.
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

    /// Erases the line, before anything else is written.
    func clear() {
        state.withLock { state in
            guard state.shown > 0 else { return }
            StandardError.writeAsIs("\r" + String(repeating: " ", count: state.shown) + "\r")
            state.shown = 0
        }
    }
}
