import Foundation
import IndoorLocalization
import ScanRecording

/// The command `convert`: converts between Bluetooth captures and recordings.
struct ConvertCommand: Command {
    static let syntax = CommandSyntax(
        name: "convert", operands: "INPUT OUTPUT", operandCount: 2...2,
        summary: "convert a Bluetooth capture to a recording, or a recording to a capture",
        details: """
            INPUT is a recording or a btsnoop capture; its content determines the format. It may be a pipe, and - is
            standard input. The ending of OUTPUT determines its format: .jsonl and .jsonl.gz are recordings, .btsnoop
            and .snoop are captures as written by btmon (Linux monitor), .log and .cfa are captures as written by phones
            and Wireshark (H4). A capture stores advertisements only; standard error lists the other data that were left
            out. Beacon lines without advertising data are written as iBeacon advertisements, with a measured power of
            \(BTSnoopWriter.measuredPower) dBm if it is unknown.

            example: btmon -w walk.btsnoop; indoorloc convert walk.btsnoop walk.jsonl.gz
            """,
        options: [
            CommandOption(
                name: "adapter", argument: "N",
                help: "read only packets of hciN from a capture; write hciN to a capture (default 0)"),
            .overwrite, .lenient,
        ])

    private let input: String
    private let output: OutputFile
    private let format: ConvertedFormat
    private let adapter: UInt16?
    private let strictness: RecordingReader.Strictness

    init(_ arguments: ParsedArguments) throws {
        input = arguments.stream(operand: 0)
        output = arguments.outputFile(operand: 1, isPrivate: true)
        guard let format = ConvertedFormat(path: output.path) else {
            let message = "'\(output.path)' must end in \(ConvertedFormat.endings)"
            throw UsageError(message: message, command: arguments.syntax.name)
        }
        self.format = format
        adapter = try Self.adapter(arguments)
        strictness = arguments.strictness
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
        switch try RecordedFile(path: input, adapter: adapter, strictness: strictness) {
        case .capture(var reader): try convert(&reader, progress)
        case .recording(var reader): try convert(&reader, progress)
        }
    }

    private func convert(_ reader: inout BTSnoopReader, _ progress: ProgressLine) throws {
        // The output is created after the first reading, so that an unreadable input creates none.
        var next = try reader.next()
        let start = reader.startMicroseconds ?? BTSnoopWriter.unknownStart
        let header = RecordingHeader(
            startedAt: start == BTSnoopWriter.unknownStart ? nil : RecordingStart.text(start))
        var converted = try ConvertedOutput(
            output, format: format, header: header, startMicroseconds: start, adapter: adapter ?? 0,
            strictness: strictness)
        while let reading = next {
            progress.show("convert: \(Int(reading.instant.seconds)) s of the capture")
            try converted.write(.measurement(reading))
            next = try reader.next()
        }
        try converted.close()
        progress.clear()
        report([reader.tally.warning(for: input), reader.adaptersWarning] + converted.notes)
    }

    private func convert(_ reader: inout RecordingReader, _ progress: ProgressLine) throws {
        var next = try reader.next()
        let header = reader.header ?? RecordingHeader()
        let start = header.startedAt.flatMap(RecordingStart.microseconds) ?? BTSnoopWriter.unknownStart
        var converted = try ConvertedOutput(
            output, format: format, header: header, startMicroseconds: start, adapter: adapter ?? 0,
            strictness: strictness)
        while let entry = next {
            progress.show("convert: \(Int(entry.instant?.seconds ?? 0)) s of the recording")
            try converted.write(entry)
            next = try reader.next()
        }
        try converted.close()
        progress.clear()
        report([reader.tally.warning(for: input)] + converted.notes)
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
