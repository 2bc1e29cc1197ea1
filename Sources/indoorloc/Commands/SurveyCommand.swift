import Foundation
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

            With --unlabelled, walks without truth teach, too: WALKS is a recording, or a folder of them, and the option
            may be given several times. Each walk is located with the radio map, the map is learned again with the places
            found, weighed by how sure they are, and so on, as long as recordings with truth that are left out in turn are
            located better by it. Truth in these walks is not used. Where nothing is gained, the map is
            that of the recordings with truth.

            example: indoorloc survey --venue Fixtures/office \\
                         --output map.json.gz Fixtures/office/survey/*.jsonl
            """,
        options: [
            .venue, .output, .overwrite, .lenient,
            CommandOption(
                name: "unlabelled", argument: "WALKS", help: "also learn from walks without truth: a file or a folder"),
            CommandOption(name: "jobs", short: "j", argument: "N", help: "walks at a time (default: all processors)"),
        ])

    private let venue: String
    private let output: OutputFile
    private let recordings: [String]
    private let unlabelled: [String]
    private let jobs: Int
    private let strictness: RecordingReader.Strictness

    init(_ arguments: ParsedArguments) throws {
        venue = try arguments.requiredInput("venue")
        output = try arguments.requiredOutputFile("output")
        recordings = arguments.operands.map(ParsedArguments.path)
        unlabelled = (arguments.values["unlabelled"] ?? []).map(ParsedArguments.path)
        jobs = try arguments.number("jobs", in: 1...1024, else: ProcessInfo.processInfo.activeProcessorCount)
        strictness = arguments.strictness
    }

    func run() async throws {
        try output.check()
        let packet = try VenuePacketReader().read(venue)
        let progress = ProgressLine()
        defer { progress.clear() }
        var learning = SurveyLearning(
            venue: packet.venue, model: SignalModel(), keepsWalks: !unlabelled.isEmpty)
        try learning.add(recordings, strictness: strictness, progress: progress)
        let outcome = try await learn(learning, venue: packet.venue, progress)
        guard let map = outcome?.map ?? learning.learner.finish() else {
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
        if let text = outcome?.text { try StandardOutput.write("unlabelled: \(text)\n") }
    }

    /// Learns from the walks without truth, too; nil if there are none.
    private func learn(
        _ survey: SurveyLearning, venue: Venue, _ progress: ProgressLine
    ) async throws -> UnlabelledLearning.Outcome? {
        guard !unlabelled.isEmpty, survey.hasPlaces else { return nil }
        var walks: [UnlabelledLearning.Walk] = []
        for path in unlabelled {
            for path in DataSet.recordings(at: path) {
                var recording = try SurveyRecording(path: path, strictness: strictness)
                recording.waypoints = []
                walks.append(UnlabelledLearning.Walk(path: path, recording: recording))
            }
        }
        guard !walks.isEmpty else {
            throw DataSetError(
                description: "\(unlabelled.joined(separator: ", ")): no recording (.jsonl or .jsonl.gz) to learn from")
        }
        let learning = UnlabelledLearning(
            venue: venue, labelled: survey.walks, unlabelled: walks, strictness: strictness, jobs: jobs)
        return try await learning.learn(progress: progress)
    }
}

extension UnlabelledLearning.Outcome {
    /// What the walks have gained, in words.
    var text: String {
        guard let before = errors.first else {
            return "nothing was gained, as there is only one recording with truth to judge by"
        }
        let all = errors.map { JSONText.number($0, decimals: 2) }
        guard rounds > 0 else {
            return "nothing was surely gained: recordings left out err by \(all[0]) m without the walks and "
                + "\(JSONText.number(errors.dropFirst().min() ?? before, decimals: 2)) m with them"
        }
        let gain = JSONText.number((1 - errors[rounds] / before) * 100, decimals: 0)
        return "\(rounds) \(rounds == 1 ? "round" : "rounds"), recordings left out err by \(all[rounds]) m in place of "
            + "\(all[0]) m (\(gain) % less)"
    }
}
