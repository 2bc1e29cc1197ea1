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
    /// The places to mark; nil without marks.
    private var marks: MarkList?
    /// Shows the user's next step; nil shows it below the table.
    private let prompt: (@Sendable (String) -> Void)?
    /// The line below the table.
    private var footer: String?

    /// - Parameters:
    ///   - truth: the ground truth that the user supplies; nil for none.
    ///   - marks: the places to mark.
    ///   - prompt: shows the user's next step; nil shows it below the table on a terminal.
    ///   - wallClock: the source's wall clock.
    init(
        isTerminal: Bool, record: RecordTarget?, truth: TruthOptions? = nil, marks: MarkList? = nil,
        prompt: (@Sendable (String) -> Void)? = nil, wallClock: @escaping @Sendable () -> WallClock? = { nil }
    ) throws {
        self.isTerminal = isTerminal
        self.marks = marks
        self.prompt = prompt ?? (isTerminal ? nil : { @Sendable in StandardError.line($0) })
        recorder = try record.map {
            try LiveRecorder($0, stay: truth?.stay, acceptsMarks: marks != nil, wallClock: wallClock)
        }
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
    mutating func receive(_ occurrence: LiveOccurrence<ScanElement>) throws -> Bool {
        switch occurrence {
        case .element(.reading(let reading)):
            let isFirst = recorder?.hasBegun == false
            start.note(reading)
            try recorder?.write(reading)
            try writeHeader()
            let rebased = timeline.rebase(reading)
            if isTerminal { table.observe(rebased) } else { try output.line(lines.line(of: rebased)) }
            if isFirst, recorder?.hasBegun == true, let marks { try show(marks.prompt) }
        case .element(.key(let key, let time)): try press(key, at: time)
        case .tick, .ended, .limitReached, .interrupted:
            if isTerminal { try draw() } else { try output.write() }
        }
        return output.isWritten
    }

    /// Marks the next place, or undoes the last mark.
    private mutating func press(_ key: MarkKey, at time: ContinuousClock.Instant) throws {
        guard var list = marks else { return }
        switch key {
        case .mark:
            guard let place = list.next else { break }
            if let problem = recorder?.mark(place, at: time) { return try show(problem) }
            list.advance()
        case .undo:
            guard list.marked > 0 else { break }
            guard recorder?.undoMark() == true else {
                return try show("the last mark is older than \(Int(MarkBuffer.span.seconds)) s and can't be undone")
            }
            list.goBack()
        }
        marks = list
        try show(list.prompt)
    }

    private mutating func show(_ text: String) throws {
        if let prompt { return prompt(text) }
        footer = text
        try draw()
    }

    /// Completes the recording and the output.
    mutating func close() throws {
        try recorder?.close()
        if let marks, marks.marked < marks.places.count {
            StandardError.line("\(marks.marked) of \(marks.places.count) places were marked")
        }
        try writeHeader()
        if isTerminal { try draw() } else { try output.end() }
    }

    private mutating func draw() throws {
        let size = screen.size
        let lines = table.lines(
            at: timeline.now, width: size.width, height: size.height - (footer == nil ? 0 : 1))
        try screen.draw(lines + (footer.map { [String($0.prefix(size.width))] } ?? []))
    }
}

/// An element of a live scan.
enum ScanElement: Sendable {
    case reading(SensorReading)
    /// A key that the user pressed, and its time.
    case key(MarkKey, ContinuousClock.Instant)
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
