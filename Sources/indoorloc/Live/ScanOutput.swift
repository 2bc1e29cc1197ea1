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

    init(isTerminal: Bool, record: RecordTarget?) throws {
        self.isTerminal = isTerminal
        recorder = try record.map { try LiveRecorder($0) }
    }

    /// Writes what comes before the first reading.
    mutating func begin(_ header: RecordingHeader) throws {
        if isTerminal { return try draw() }
        try output.line(ScanLines.text(of: .header(header)))
        try output.write()
    }

    /// Takes in what happened; whether all of it is written.
    mutating func take(_ occurrence: LiveOccurrence<SensorReading>) throws -> Bool {
        switch occurrence {
        case .element(let reading):
            try recorder?.write(reading)
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
        if isTerminal { try draw() } else { try output.end() }
    }

    private mutating func draw() throws {
        let size = screen.size
        try screen.draw(table.lines(at: timeline.now, width: size.width, height: size.height))
    }
}
