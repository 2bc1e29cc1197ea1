import ForeignRecordings
import Foundation
import IndoorLocalization
import ScanRecording

/// The command `convert`: converts between recordings, Bluetooth captures and the recordings of other programs.
struct ConvertCommand: Command {
    static let syntax = CommandSyntax(
        name: "convert", operands: "INPUT OUTPUT", operandCount: 2...2, standardOutputOperand: 1,
        summary: "convert a recording of another program to a recording, or a recording to a capture",
        details: """
            INPUT is a recording, a btsnoop capture, or a file of another program: a CSV file with a header (csv), a packet
            capture of Bluetooth (pcap or pcapng), devices of Kismet in JSON (kismet), messages of gateways as printed by
            'mosquitto_sub -v' (mqtt), a log of GetSensorData (getsensordata), a trace of the Indoor Location competition
            (indoor-location), or JSON objects with the fields of Bleak (bleak). It may be compressed with gzip. It may be a
            pipe, and - is standard input.

            The ending of OUTPUT determines its format: .jsonl and .jsonl.gz are recordings, .btsnoop and .snoop are
            captures as written by btmon (Linux monitor), .log and .cfa are captures as written by phones and Wireshark
            (H4). - is a recording on standard output, which is written as INPUT is read. A capture stores advertisements
            only; standard error lists the other data that were left out. Beacon lines without advertising data are written
            as iBeacon advertisements, with a measured power of \(BTSnoopWriter.measuredPower) dBm if it is unknown.

            example: btmon -w walk.btsnoop; indoorloc convert walk.btsnoop walk.jsonl.gz

            example: indoorloc convert --columns time=when,rssi=level walk.csv walk.jsonl.gz

            example: indoorloc convert sniffer.pcapng - | indoorloc replay --venue office -
            """,
        options: [
            CommandOption(
                name: "adapter", argument: "N",
                help: "read only packets of hciN from a btsnoop capture; write hciN to a capture (default 0)")
        ] + CommandOption.foreign + [.overwrite, .lenient])

    private let input: String
    private let output: OutputFile
    private let format: ConvertedFormat
    private let adapter: UInt16?
    private let strictness: RecordingReader.Strictness
    private let foreign: ForeignFormat?
    private let settings: ForeignRecordingSettings
    /// Whether each entry is written immediately.
    private let isStream: Bool

    init(_ arguments: ParsedArguments) throws {
        input = arguments.stream(operand: 0)
        isStream = arguments.operands[1] == ParsedArguments.standardInput
        var output = arguments.outputFile(operand: 1, isPrivate: true)
        if isStream { output.path = "/dev/stdout" }
        self.output = output
        guard let format = isStream ? .recording : ConvertedFormat(path: output.path) else {
            let message = "'\(output.path)' must end in \(ConvertedFormat.endings)"
            throw UsageError(message: message, command: arguments.syntax.name)
        }
        self.format = format
        adapter = try Self.adapter(arguments)
        strictness = arguments.strictness
        foreign = try arguments.foreignFormat()
        settings = try arguments.foreignSettings(input: input)
    }

    /// The number of the adapter, with or without the prefix "hci".
    private static func adapter(_ arguments: ParsedArguments) throws(UsageError) -> UInt16? {
        guard let text = arguments.value("adapter") else { return nil }
        guard let number = UInt16(text.trimmingPrefix("hci")), number < UInt16.max else {
            let allowed = "a whole number from 0 to \(UInt16.max - 1), or a name such as hci0"
            throw UsageError(message: "--adapter must be \(allowed), not '\(text)'", command: arguments.syntax.name)
        }
        return number
    }

    func run() throws {
        let progress = ProgressLine()
        defer { progress.clear() }
        try output.check()
        switch try ConvertibleFile(
            path: input, format: foreign, settings: settings, adapter: adapter, strictness: strictness)
        {
        case .foreign(var reader): try convert(&reader, progress)
        case .recorded(let file):
            switch consume file {
            case .capture(var reader): try convert(&reader, progress)
            case .recording(var reader): try convert(&reader, progress)
            }
        }
    }

    private func convert(_ reader: inout ForeignRecordingReader, _ progress: ProgressLine) throws {
        let first = try reader.next()
        let start = reader.startMicroseconds.map { $0 - $0 % 1000 }
        let header = RecordingHeader(startedAt: start.map(RecordingStart.text), device: reader.device)
        let notes = try write(
            first, header, start ?? BTSnoopWriter.unknownStart, of: "file", needsReadings: true, progress
        ) { try reader.next() }
        report([reader.tally.warning(for: input)] + notes)
    }

    private func convert(_ reader: inout BTSnoopReader, _ progress: ProgressLine) throws {
        let first = try reader.next().map(RecordingEntry.measurement)
        let start = reader.startMicroseconds ?? BTSnoopWriter.unknownStart
        let header = RecordingHeader(
            startedAt: start == BTSnoopWriter.unknownStart ? nil : RecordingStart.text(start))
        let notes = try write(first, header, start, of: "capture", progress) {
            try reader.next().map(RecordingEntry.measurement)
        }
        report([reader.tally.warning(for: input), reader.adaptersWarning] + notes)
    }

    private func convert(_ reader: inout RecordingReader, _ progress: ProgressLine) throws {
        let first = try reader.next()
        let header = reader.header ?? RecordingHeader()
        let start = header.startedAt.flatMap(RecordingStart.microseconds) ?? BTSnoopWriter.unknownStart
        let notes = try write(first, header, start, of: "recording", progress) { try reader.next() }
        report([reader.tally.warning(for: input)] + notes)
    }

    /// Writes all entries of an input, and returns the notes of the output.
    ///
    /// The first entry has been read before the output is created, so that an unreadable input creates none.
    ///
    /// - Parameter needsReadings: whether ground truth alone is an error, as the readings were not understood.
    private func write(
        _ first: RecordingEntry?, _ header: RecordingHeader, _ startMicroseconds: Int64, of kind: String,
        needsReadings: Bool = false, _ progress: ProgressLine, next: () throws -> RecordingEntry?
    ) throws -> [String] {
        var converted = try ConvertedOutput(
            output, format: format, header: header, startMicroseconds: startMicroseconds, adapter: adapter ?? 0,
            strictness: strictness)
        var entry = first
        while let present = entry {
            progress.show("convert: \(Int(present.instant?.seconds ?? 0)) s of the \(kind)")
            try converted.write(present)
            if isStream { try converted.flush() }
            entry = try next()
        }
        if needsReadings, converted.hasTruthOnly {
            throw CommandError(
                description: "\(input) has ground truth, but no reading; name the columns of the readings with "
                    + "--columns, such as --columns rssi=Level")
        }
        try converted.close()
        progress.clear()
        return converted.notes
    }

    private func report(_ notes: [String?]) { notes.compactMap { $0 }.forEach(StandardError.write) }
}

extension BTSnoopReader {
    /// A warning if the capture has several adapters, or nothing from the selected one; otherwise nil.
    fileprivate var adaptersWarning: String? {
        let list = tally.adapters.sorted().map { "hci\($0)" }.joined(separator: ", ")
        if let adapter {
            guard !tally.adapters.contains(adapter) else { return nil }
            return "indoorloc: \(path): hci\(adapter) received no advertisement"
                + (list.isEmpty ? "\n" : ", but \(list) did\n")
        }
        guard tally.adapters.count > 1 else { return nil }
        return "indoorloc: \(path): \(list) received advertisements; select one with --adapter\n"
    }
}
