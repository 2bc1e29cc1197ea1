import Foundation
import IndoorLocalization
import ScanRecording
import VenuePackets

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
        let recorder = try record.map {
            try LiveRecorder($0, stay: truth?.stay, acceptsMarks: marks != nil, wallClock: wallClock)
        }
        self.init(
            isTerminal: isTerminal, recorder: recorder, marks: marks,
            prompt: prompt ?? (isTerminal ? nil : { @Sendable in StandardError.line($0) }),
            start: RecordingBeginning(wallClock: wallClock))
    }

    private init(
        isTerminal: Bool, recorder: consuming LiveRecorder?, marks: MarkList?,
        prompt: (@Sendable (String) -> Void)?, start: RecordingBeginning
    ) {
        self.isTerminal = isTerminal
        self.recorder = recorder
        self.marks = marks
        self.prompt = prompt
        self.start = start
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

/// The table that `scan` shows on a terminal: one line per beacon, the strongest first.
struct BeaconTable {
    /// The time over which the rate of sightings is measured.
    private static let rateSpan = Duration.seconds(5)

    private var ranger: Ranger
    /// The instants of each beacon's recent sightings, and the latest RSSI in dBm.
    private var heard: [BeaconIdentity: (instants: [Instant], rssi: Double)] = [:]
    private var others: [DeviceAddress: Instant] = [:]
    private var start: Instant?
    /// The radio's status in words; nil before the first radio event.
    private(set) var radio: String?

    init() {
        var settings = Ranger.Settings()
        settings.silence = Self.rateSpan
        ranger = Ranger(settings: settings)
    }

    /// Updates the table with a reading.
    mutating func observe(_ reading: SensorReading) {
        start = start ?? reading.instant
        switch reading {
        case .sighting(let sighting):
            guard Sighting.isMeasurement(rssi: sighting.rssi) else { return }
            ranger.observe(sighting)
            var instants = heard[sighting.beacon]?.instants ?? []
            instants.append(sighting.instant)
            heard[sighting.beacon] = (instants, sighting.rssi)
            if let address = sighting.address { others[address] = nil }
        case .advertisement(let advertisement):
            guard (try? advertisement.sighting()) == nil else { return }
            others[advertisement.address] = advertisement.instant
        case .radio(let event): radio = "\(event)"
        case .motion, .step, .pressure, .gnss, .fix, .range: break
        }
    }

    /// The table at `now`: at most `height` lines of at most `width` characters.
    mutating func lines(at now: Instant, width: Int, height: Int) -> [String] {
        forgetSilent(at: now)
        let estimates = ranger.estimates(at: now).sorted { ($1.rssi, $0.beacon) < ($0.rssi, $1.beacon) }
        // A full UUID and the columns after it need 94 characters.
        let isWide = width >= 94
        let head = row(
            ["UUID", "MAJOR", "MINOR", "RSSI", "SMOOTH", "DISTANCE", "PROXIMITY", "RATE", "AGE"], isWide: isWide)
        let rows = estimates.map { estimate in row(cells(of: estimate, at: now, isWide: isWide), isWide: isWide) }
        let room = max(0, height - 4)
        var lines = [radio ?? "waiting for the radio", "", head]
        lines += rows.prefix(rows.count > room ? max(0, room - 1) : room)
        if rows.count > room { lines.append("and \(rows.count - max(0, room - 1)) weaker beacons") }
        lines.append(summary(beacons: rows.count, at: now))
        return lines.map { String($0.prefix(width)) }
    }

    private mutating func forgetSilent(at now: Instant) {
        let oldest = now.advanced(by: .zero - Self.rateSpan)
        ranger.forgetSilent(at: now)
        heard = heard.compactMapValues { entry in
            let recent = entry.instants.filter { $0 > oldest }
            return recent.isEmpty ? nil : (recent, entry.rssi)
        }
        others = others.filter { $0.value > oldest }
    }

    private func summary(beacons: Int, at now: Instant) -> String {
        let beaconCount = beacons == 1 ? "1 beacon" : "\(beacons) beacons"
        let otherCount = others.count == 1 ? "1 other device" : "\(others.count) other devices"
        return "\(beaconCount), \(otherCount) in the last \(Int(Self.rateSpan.seconds)) s; press Ctrl-C to end"
    }

    private func cells(of estimate: RangeEstimate, at now: Instant, isWide: Bool) -> [String] {
        let beacon = estimate.beacon
        let entry = heard[beacon]
        // In the first seconds the span is shorter.
        let span = min(Self.rateSpan, start.map { max(.seconds(1), $0.duration(to: now)) } ?? Self.rateSpan)
        let rate = Double(entry?.instants.count ?? 0) / span.seconds
        return [
            isWide ? beacon.uuid.description : String(beacon.uuid.description.prefix(8)) + "…",
            String(beacon.major), String(beacon.minor), entry.map { String(format: "%.0f", $0.rssi) } ?? "",
            String(format: "%.1f", estimate.rssi),
            estimate.distance.map { String(format: "%.1f m", $0.meters) } ?? "?", estimate.proximity?.rawValue ?? "?",
            String(format: "%.1f/s", rate),
            String(format: "%.1f s", max(0, estimate.instant.seconds(to: now))),
        ]
    }

    private func row(_ cells: [String], isWide: Bool) -> String {
        let widths = [isWide ? 36 : 9, 6, 6, 5, 7, 9, 10, 8, 7]
        return zip(cells, widths).enumerated().map { index, cell in
            let padding = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return index == 0 ? cell.0 + padding : padding + cell.0
        }.joined()
    }
}

/// Standard output of a live command, which never waits for a slow reader.
///
/// A reader that has stopped must block neither the radio nor a signal. Lines that exceed the buffer are lost, and
/// standard error reports their number.
struct LiveOutput {
    private var queue = LineQueue()
    /// The number of buffered bytes that are written before the next tick.
    private static let batch = 1 << 16
    /// The time that `finish()` waits for a stopped reader.
    static let patience = Duration.seconds(1)

    /// Whether all lines have been written.
    var isWritten: Bool { queue.isEmpty }
    /// The number of lost lines since the last `drainLosses()`.
    var lost: Int { queue.lost }

    /// Writes a line, now or with later ones.
    mutating func line(_ text: String) throws(OutputError) {
        queue.append(FileDescriptor.printable(text))
        if queue.count > Self.batch { try write() }
    }

    /// Writes as much as the reader accepts at once.
    mutating func write() throws(OutputError) {
        while !queue.isEmpty, FileDescriptor.isWritable(STDOUT_FILENO, within: 0) { try writePiece() }
    }

    /// Writes the remaining lines, unless the reader stops.
    mutating func finish() throws(OutputError) {
        let patience = Int32(Self.patience.nanoseconds / 1_000_000)
        while !queue.isEmpty, FileDescriptor.isWritable(STDOUT_FILENO, within: patience) { try writePiece() }
    }

    /// Discards the remaining lines and counts them as lost.
    mutating func drop() { queue.drop() }

    /// Returns the number of lost lines since the last call.
    mutating func drainLosses() -> Int { queue.drainLosses() }

    private mutating func writePiece() throws(OutputError) {
        let piece = queue.next(FileDescriptor.pieceSize)
        let count = piece.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        if count >= 0 { return queue.consume(count) }
        if errno != EINTR, errno != EAGAIN { throw OutputError(number: errno) }
    }
}

extension LiveOutput {
    /// Writes the remaining lines, and reports lost lines on standard error.
    mutating func end() throws(OutputError) {
        try finish()
        drop()
        let losses = drainLosses()
        if losses > 0 {
            StandardError.line("standard output: \(Self.text(losses)), as the reader was too slow", .warning)
        }
    }

    /// The number of lost lines in words.
    static func text(_ losses: Int) -> String { losses == 1 ? "1 line was lost" : "\(losses) lines were lost" }
}

/// A bounded queue of lines for a slow reader. New lines that don't fit are lost and counted.
struct LineQueue: Sendable {
    /// The capacity in bytes: thousands of positions.
    static let room = 1 << 20

    private var bytes: [UInt8] = []
    /// The number of consumed bytes at the start of `bytes`.
    private var start = 0
    /// The number of lost lines since the last `drainLosses()`.
    private(set) var lost = 0

    var isEmpty: Bool { start == bytes.count }
    /// The number of bytes in the queue.
    var count: Int { bytes.count - start }
    /// The number of lines in the queue, including a partly consumed one.
    var lines: Int { bytes[start...].count { $0 == UInt8(ascii: "\n") } }

    /// Appends a line, given without its line feed, or counts it as lost.
    mutating func append(_ line: String) {
        guard count + line.utf8.count < Self.room else { return lost += 1 }
        bytes += line.utf8
        bytes.append(UInt8(ascii: "\n"))
    }

    /// The next bytes, at most `limit`.
    func next(_ limit: Int) -> ArraySlice<UInt8> { bytes[start...].prefix(limit) }

    /// Removes bytes that were written.
    mutating func consume(_ count: Int) {
        start += count
        // Not after each write, as this moves all remaining bytes.
        guard start == bytes.count || start >= Self.room else { return }
        bytes.removeFirst(start)
        start = 0
    }

    /// Discards the remaining lines and counts them as lost.
    mutating func drop() {
        lost += lines
        bytes = []
        start = 0
    }

    /// Returns the number of lost lines since the last call.
    mutating func drainLosses() -> Int {
        defer { lost = 0 }
        return lost
    }
}
