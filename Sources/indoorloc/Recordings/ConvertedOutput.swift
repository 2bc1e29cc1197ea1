import IndoorLocalization
import ScanRecording

/// The output of `convert` and `--record`, with notes about data that it can't store.
struct ConvertedOutput: ~Copyable {
    private let path: String
    private let draft: OutputDraft
    private let strictness: RecordingReader.Strictness
    private var recording: RecordingWriter?
    private var capture: BTSnoopWriter?
    /// The capture's tally after it is closed.
    private var tally: BTSnoopWriter.Tally?
    private var truths = 0
    private var readings = 0
    private var lostFields: [String] = []
    private var refused = 0
    private var firstRefusal: BTSnoopError?

    private init(
        _ output: OutputFile, _ strictness: RecordingReader.Strictness, _ draft: OutputDraft,
        recording: consuming RecordingWriter? = nil, capture: consuming BTSnoopWriter? = nil
    ) {
        path = output.path
        self.strictness = strictness
        self.draft = draft
        self.recording = recording
        self.capture = capture
    }

    /// Begins the file, which appears at its path when it is closed.
    ///
    /// - Parameter strictness: whether a beacon that a capture can't store is an error.
    init(
        _ output: OutputFile, format: ConvertedFormat, header: RecordingHeader, startMicroseconds: Int64,
        adapter: UInt16, strictness: RecordingReader.Strictness
    ) throws {
        let draft = try output.draft()
        switch format {
        case .recording:
            let writer = try RecordingWriter(path: output.path, header: header, descriptor: draft.descriptor)
            self.init(output, strictness, draft, recording: consume writer)
        case .capture(let datalink):
            let writer = try BTSnoopWriter(
                path: output.path, datalink: datalink, startMicroseconds: startMicroseconds, adapter: adapter,
                descriptor: draft.descriptor)
            self.init(output, strictness, draft, capture: consume writer)
            if header.device != nil { lostFields.append("device") }
            if header.venueID != nil { lostFields.append("venueId") }
            if header.name != nil { lostFields.append("name") }
        }
    }

    /// Continues a recording at its end.
    ///
    /// - Parameters:
    ///   - end: the recording's last instant.
    ///   - endsLine: whether the last line ends with a line feed.
    init(continuing output: OutputFile, after end: Instant, endsLine: Bool) throws {
        let draft = try output.draft()
        if !endsLine { try draft.append([10]) }
        let writer = try RecordingWriter(path: output.path, continuing: end, descriptor: draft.descriptor)
        self.init(output, .lenient, draft, recording: consume writer)
    }

    /// Makes the file appear at its path, with its content so far. More may be written afterwards.
    mutating func appear() throws {
        try checkpoint()
        try draft.commit()
    }

    /// Makes all written entries readable in the file, also if the program is killed later.
    ///
    /// - Parameter entries: further entries of a recording, which the file has until the next entry is written. They
    ///   can still change.
    mutating func checkpoint(followedBy entries: [RecordingEntry] = []) throws {
        try draft.endProvisionalPart()
        try recording?.checkpoint()
        try capture?.checkpoint()
        if recording != nil, let first = entries.first?.instant, draft.beginProvisionalPart() {
            var rest = try RecordingWriter(path: path, continuing: first, descriptor: draft.descriptor)
            for entry in entries { try rest.write(entry) }
            try rest.close()
        }
        try draft.truncate()
    }

    /// Writes an entry, or counts it if the file can't store it. The header is written when the file is created.
    mutating func write(_ entry: RecordingEntry) throws {
        if case .header = entry { return }
        if case .truth = entry { truths += 1 } else { readings += 1 }
        try draft.endProvisionalPart()
        try recording?.write(entry)
        guard capture != nil else { return }
        switch entry {
        case .header, .truth: return
        case .measurement(let reading):
            do throws(BTSnoopError) { try capture?.write(reading) } catch {
                if strictness == .strict { throw error }
                if case .unwritable = error.problem { throw error }
                refused += 1
                firstRefusal = firstRefusal ?? error
            }
        }
    }

    /// Passes what a recording has so far to the system.
    mutating func flush() throws {
        try draft.endProvisionalPart()
        try recording?.flush()
    }

    /// Completes the file; then `notes` are available.
    mutating func close() throws {
        try draft.endProvisionalPart()
        try recording?.close()
        try capture?.close()
        try draft.truncate()
        try draft.commit()
        tally = capture?.tally
    }

    /// Whether ground truth was written, but no reading.
    var hasTruthOnly: Bool { truths > 0 && readings == 0 }

    /// Notes about data that was left out or changed, one per line.
    var notes: [String] {
        guard let tally else { return [] }
        var notes: [String] = []
        var leftOut = tally.leftOut
        if truths > 0 { leftOut["truth"] = truths }
        let lines = leftOut.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        let parts = lines + lostFields.map { "the header's \($0)" }
        if !parts.isEmpty {
            notes.append("left out, as a capture stores advertisements only: \(parts.joined(separator: ", "))")
        }
        if tally.encodedSightings > 0 {
            let lines = tally.encodedSightings == 1 ? "1 beacon line" : "\(tally.encodedSightings) beacon lines"
            notes.append("\(lines) without bytes written as iBeacon advertisements")
        }
        if tally.assumedPowers > 0 {
            notes.append(
                "\(tally.assumedPowers) of them with \(BTSnoopWriter.measuredPower) dBm as the unknown measured power")
        }
        if let firstRefusal {
            let count = refused == 1 ? "1 reading rejected" : "\(refused) readings rejected, the first"
            notes.append("\(count): \(firstRefusal)")
        }
        return notes.map { "indoorloc: \(path): \($0)\n" }
    }
}

/// The format of an output, from the ending of its name.
enum ConvertedFormat {
    case recording
    case capture(BTSnoopDatalink)

    /// The supported endings in words.
    static let endings = ".jsonl, .jsonl.gz, .btsnoop, .snoop, .log or .cfa"

    /// Returns the format of a path; nil for an unknown ending.
    init?(path: String) {
        let name = path.lowercased()
        if name.hasSuffix(".jsonl") || name.hasSuffix(".jsonl.gz") {
            self = .recording
        } else if name.hasSuffix(".btsnoop") || name.hasSuffix(".snoop") {
            self = .capture(.monitor)
        } else if name.hasSuffix(".log") || name.hasSuffix(".cfa") {
            self = .capture(.uart)
        } else {
            return nil
        }
    }
}
