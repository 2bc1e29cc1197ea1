import IndoorLocalization
import ScanRecording
import VenuePackets

/// Learns a radio map.
struct SurveyCommand: Command {
    static let syntax = CommandSyntax(
        name: "survey", operands: "RECORDING...", operandCount: 1...Int.max,
        summary: "learn a radio map from recordings with truth",
        details: """
            A radio map holds what was heard at each surveyed place, where each beacon stands and how strong it is.
            Give it to 'indoorloc replay --radio-map MAP', or name it in the packet as "radioMap". A MAP that ends in
            .gz is compressed.

            example: indoorloc survey --venue Fixtures/office \\
                         --output map.json.gz Fixtures/office/survey/*.jsonl
            """,
        options: [.venue, .output, .overwrite, .lenient])

    private let venue: String
    private let output: OutputFile
    private let recordings: [String]
    private let strictness: RecordingReader.Strictness

    init(_ arguments: ParsedArguments) throws {
        venue = try arguments.requiredInput("venue")
        output = try arguments.requiredOutputFile("output")
        recordings = arguments.operands.map(ParsedArguments.path)
        strictness = arguments.strictness
    }

    func run() throws {
        try output.check()
        let packet = try VenuePacketReader().read(venue)
        let progress = ProgressLine()
        defer { progress.clear() }
        var learning = SurveyLearning(venue: packet.venue, model: SignalModel())
        try learning.add(recordings, strictness: strictness, progress: progress)
        guard let map = learning.learner.finish() else {
            throw DataSetError(description: learning.reasonForNothing)
        }
        try output.write(RadioMapFile.document(of: map, named: output.path))
        progress.clear()
        for path in learning.withoutPlaces {
            StandardError.line("\(path) has no truth with a place and taught nothing")
        }
        for path in learning.ofOtherMaps {
            StandardError.line("\(path) has truth on maps of another venue and taught nothing")
        }
        let known = Set(packet.venue.beacons.map(\.identity))
        if !known.isEmpty, known.isDisjoint(with: map.beacons.map(\.identity)) {
            StandardError.line(
                "no beacon of '\(packet.venue.name)' was heard; are the recordings of another venue?")
        }
        let exponent = JSONText.number(map.pathLossExponent, decimals: 2)
        try StandardOutput.write(
            "\(output.path): \(map.fingerprints.count) places, \(map.beacons.count) beacons, path-loss exponent \(exponent)\n"
        )
        if let learned = map.learnedText { try StandardOutput.write("learned: \(learned)\n") }
    }
}
