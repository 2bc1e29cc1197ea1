import IndoorLocalization
import ScanRecording

/// The output of a live scan: a table or lines on standard output, and a recording.
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

    /// - Parameter wallClock: the source's wall clock.
    init(isTerminal: Bool, record: RecordTarget?, wallClock: @escaping @Sendable () -> WallClock? = { nil }) throws {
        self.isTerminal = isTerminal
        recorder = try record.map { try LiveRecorder($0, wallClock: wallClock) }
        start = RecordingBeginning(wallClock: wallClock)
    }

    /// Draws the empty table on a terminal.
    mutating func begin() throws {
        if isTerminal { try draw() }
    }

    /// Writes the header, once the time of the first reading is known.
    private mutating func writeHeader() throws {
        guard !isTerminal, !hasHeader else { return }
        hasHeader = true
        try output.line(ScanLines.text(of: .header(start.header)))
    }

    /// Handles an occurrence; returns whether all output is written.
    mutating func receive(_ occurrence: LiveOccurrence<SensorReading>) throws -> Bool {
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

    /// Completes the recording and the output.
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

/// The lines that `scan` prints to a file or pipe: a recording whose beacon lines also have smoothed RSSI and distance.
struct ScanLines {
    private var ranger = Ranger()

    /// The recording's line for an entry, without its line feed.
    static func text(of entry: RecordingEntry) throws -> String {
        String(decoding: try RecordEncoder.line(for: entry).dropLast(), as: UTF8.self)
    }

    /// The line for a reading, without its line feed.
    mutating func line(of reading: SensorReading) throws -> String {
        let line = try Self.text(of: .measurement(reading))
        guard case .sighting(let sighting) = reading, Sighting.isMeasurement(rssi: sighting.rssi) else { return line }
        ranger.observe(sighting)
        ranger.forgetSilent(at: sighting.instant)
        guard let estimate = ranger.estimate(of: sighting.beacon, at: sighting.instant) else { return line }
        var json = JSONText()
        json.add("smoothed", estimate.rssi, decimals: 1)
        json.add("distance", estimate.distance?.meters, decimals: 2)
        json.add("proximity", estimate.proximity?.rawValue)
        return line.dropLast() + "," + json.text.dropFirst()
    }
}
