import IndoorLocalization
import ScanRecording

/// Where a live scan's readings go: a table or lines on standard output, and a file.
struct ScanOutput: ~Copyable {
    private let isTerminal: Bool
    private var timeline = ScanTimeline()
    private var table = BeaconTable()
    private var screen = TerminalScreen()
    private var lines = ScanLines()
    private var output = LiveOutput()
    private var recorder: LiveRecorder?
    private var start: RecordingBeginning
    private var hasHeader = false

    /// - Parameter wallClock: that of the source.
    init(isTerminal: Bool, record: RecordTarget?, wallClock: @escaping @Sendable () -> WallClock? = { nil }) throws {
        self.isTerminal = isTerminal
        recorder = try record.map { try LiveRecorder($0, wallClock: wallClock) }
        start = RecordingBeginning(wallClock: wallClock)
    }

    /// Shows a terminal what is there before the first reading.
    mutating func begin() throws {
        if isTerminal { try draw() }
    }

    /// Writes the header, with which the first reading's time is known.
    private mutating func writeHeader() throws {
        guard !isTerminal, !hasHeader else { return }
        hasHeader = true
        try output.line(ScanLines.text(of: .header(start.header)))
    }

    /// Takes in what happened; whether all of it is written.
    mutating func take(_ occurrence: LiveOccurrence<SensorReading>) throws -> Bool {
        switch occurrence {
        case .element(let reading):
            start.note(reading)
            try recorder?.write(reading)
            try writeHeader()
            let rebased = timeline.rebase(reading)
            if isTerminal { table.observe(rebased) } else { try output.line(lines.line(of: rebased)) }
        case .tick, .ended, .limitReached, .interrupted:
            if isTerminal { try draw() } else { try output.write() }
        }
        return output.isWritten
    }

    /// Completes the file, and then what is shown.
    mutating func close() throws {
        try recorder?.close()
        try writeHeader()
        if isTerminal { try draw() } else { try output.end() }
    }

    private mutating func draw() throws {
        let size = screen.size
        try screen.draw(table.lines(at: timeline.now, width: size.width, height: size.height))
    }
}
