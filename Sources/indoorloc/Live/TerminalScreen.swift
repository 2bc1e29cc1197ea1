import Foundation
import VenuePackets

/// A terminal on which text is drawn anew in place.
struct TerminalScreen {
    /// Whether standard output is one.
    static var isThere: Bool { isatty(STDOUT_FILENO) == 1 }

    private var drawn = 0

    /// Columns and rows; 80 and 24 where the terminal does not tell.
    var size: (width: Int, height: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Draws the lines over those of the last call.
    ///
    /// A terminal that is held, as with Ctrl-S, is left as it is.
    mutating func draw(_ lines: [String]) throws(OutputError) {
        guard FileDescriptor.takes(STDOUT_FILENO, within: 0) else { return }
        var text = drawn > 0 ? "\u{1B}[\(drawn)A" : ""
        for line in lines { text += "\r\(PrintableText.line(line))\u{1B}[K\n" }
        // What is left of a longer drawing goes.
        text += "\u{1B}[J"
        drawn = lines.count
        try StandardOutput.writeAsIs(text)
    }
}
