import Foundation
import IndoorLocalization

/// A key of the terminal that has a function while recording.
enum MarkKey: Hashable, Sendable {
    /// Enter or space: the user is at the next place.
    case mark
    /// `u`: the last mark was wrong.
    case undo

    /// Returns nil for a key without a function.
    init?(byte: UInt8) {
        switch byte {
        case 0x0A, 0x0D, 0x20: self = .mark
        case UInt8(ascii: "u"), UInt8(ascii: "U"): self = .undo
        default: return nil
        }
    }
}

/// A terminal that delivers each key immediately and without echo until it is closed.
///
/// Ctrl-C and Ctrl-Z have their usual effect; Ctrl-\ has none. A class, as its end restores the mode.
final class TerminalKeys {
    private let earlier: EarlierMode
    private let source: any DispatchSourceRead

    /// Begins to read keys; returns nil if the descriptor is not a terminal.
    ///
    /// - Parameter press: receives each key with the time at which it was pressed.
    init?(of terminal: Int32, _ press: @escaping @Sendable (MarkKey, ContinuousClock.Instant) -> Void) {
        var mode = termios()
        guard tcgetattr(terminal, &mode) == 0 else { return nil }
        earlier = EarlierMode(terminal, mode)
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // Ctrl-\ would end the process without restoring the mode.
        mode.c_cc.1 = cc_t(0)
        tcsetattr(terminal, TCSANOW, &mode)
        let source = DispatchSource.makeReadSource(fileDescriptor: terminal)
        self.source = source
        source.setEventHandler { [source] in
            let time = ContinuousClock.now
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = bytes.withUnsafeMutableBytes { read(terminal, $0.baseAddress, $0.count) }
            // At the end of the terminal's input, the system would call the handler forever.
            guard count > 0 else {
                source.cancel()
                return
            }
            for byte in bytes[..<count] { if let key = MarkKey(byte: byte) { press(key, time) } }
        }
        source.activate()
    }

    /// Throws `CommandError` if the descriptor is not a terminal.
    static func check(_ terminal: Int32) throws(CommandError) {
        guard isatty(terminal) == 1 else {
            throw CommandError(
                description: "--marks requires a terminal on standard input, as the marks are set with its keys")
        }
    }

    /// Restores the terminal's mode, from any thread. A second call has no effect.
    var restore: @Sendable () -> Void {
        { [earlier] in earlier.restore() }
    }

    /// Ends reading, and restores the terminal's mode.
    func close() {
        source.cancel()
        restore()
    }

    deinit { close() }
}

/// The mode of a terminal before a change. A class, as the handlers of signals share it.
private final class EarlierMode: Sendable {
    private let terminal: Int32
    /// Nil once it is restored.
    private let mode: Guarded<termios?>

    init(_ terminal: Int32, _ mode: termios) {
        self.terminal = terminal
        self.mode = Guarded(mode)
    }

    func restore() {
        mode.withLock { mode in
            guard var earlier = mode.take() else { return }
            tcsetattr(terminal, TCSANOW, &earlier)
        }
    }
}
