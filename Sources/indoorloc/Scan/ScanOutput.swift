import IndoorLocalization
import ScanRecording

/// Where a live scan's readings go: a table or lines on standard output, and a file.
struct ScanOutput: ~Copyable {
    private let header: RecordingHeader
    private let isTerminal: Bool
    private var timeline = ScanTimeline()
    private var table = BeaconTable()
    private var screen = TerminalScreen()
    private var lines = ScanLines()
    private var output = LineOutput()
    private var file: ConvertedOutput?

    init(header: RecordingHeader, isTerminal: Bool) {
        self.header = header
        self.isTerminal = isTerminal
        file = nil
    }

    /// Writes all readings to a file, too.
    mutating func record(
        to path: String, format: ConvertedFormat, header: RecordingHeader, startMicroseconds: Int64
    ) throws {
        // A beacon that has no place in a capture must not end the scan.
        file = try ConvertedOutput(
            path: path, format: format, header: header, startMicroseconds: startMicroseconds, adapter: 0,
            strictness: .lenient)
    }

    /// Writes what comes before the first reading.
    mutating func begin() throws {
        if isTerminal { return try draw() }
        try output.line(ScanLines.text(of: .header(header)))
        try output.flush()
    }

    /// Takes in what happened; false if that was the end.
    mutating func take(_ occurrence: ScanOccurrence) throws -> Bool {
        switch occurrence {
        case .reading(let reading):
            let rebased = timeline.rebase(reading)
            try file?.write(.measurement(rebased))
            if isTerminal { table.observe(rebased) } else { try output.line(lines.line(of: rebased)) }
            return true
        case .tick:
            if isTerminal { try draw() } else { try output.flush() }
            return true
        case .ended, .interrupted:
            if isTerminal { try draw() } else { try output.flush() }
            return false
        }
    }

    /// Completes the file.
    mutating func close() throws {
        try file?.close()
        file?.notes.forEach(StandardError.write)
    }

    private mutating func draw() throws {
        let size = screen.size
        try screen.draw(table.lines(at: timeline.now, width: size.width, height: size.height))
    }
}
