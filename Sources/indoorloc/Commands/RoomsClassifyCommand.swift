import IndoorLocalization
import ScanRecording
import VenuePackets

/// The command `rooms classify`: prints the rooms of a recording.
struct RoomsClassifyCommand: Command {
    static let syntax = CommandSyntax(
        name: "rooms classify", operands: "RECORDING", operandCount: 1...1,
        summary: "print the trained rooms in which a recording was made",
        details: """
            Prints one JSON line for each room that is entered or left: t, type "room", event, room and probability.
            With --scans, also prints one line for each scan: t, type "estimate", room (null for none of the rooms),
            probability, and the three best candidates.

            example: indoorloc rooms classify --training home.json walk.jsonl
            """,
        options: [
            CommandOption(name: "training", argument: "ROOMS", help: "training data from 'indoorloc rooms train'"),
            CommandOption(
                name: "classifier", argument: "NAME",
                help: ClassifierKind.allCases.map(\.rawValue).joined(separator: ", ") + " (default adaptive)",
                proposals: .words(of: ClassifierKind.self)),
        ] + RoomRuleOptions.options + [
            CommandOption(name: "scans", help: "also print the estimate of each scan"), .lenient,
        ])

    private let training: String
    private let recording: String
    private let kind: ClassifierKind
    private let settings: RoomSettings
    private let printsScans: Bool
    private let strictness: RecordingReader.Strictness

    init(_ arguments: ParsedArguments) throws {
        training = try arguments.requiredInput("training")
        recording = arguments.stream(operand: 0)
        kind = try arguments.word("classifier", of: ClassifierKind.self) ?? .adaptive
        settings = try arguments.roomSettings()
        printsScans = arguments.has("scans")
        strictness = arguments.strictness
    }

    func run() throws {
        let rooms = try RoomTrainingFile.read(training)
        var classifier = kind.classifier(rooms)
        var machine = RoomMachine(settings: settings)
        machine.insert(classifier, for: "")
        machine.start()
        var output = LineOutput()
        let scans = try RoomRecording.reportingWarnings(recording, strictness: strictness).stays.flatMap(\.scans)
        var hasEvents = false
        for scan in scans {
            if printsScans, let estimate = classifier.classify(scan) { try output.line(estimate.json) }
            for event in machine.handle(scan, of: "") where event.kind != .current {
                hasEvents = true
                try output.line(event.json)
            }
        }
        try output.flush()
        if !hasEvents {
            StandardError.line("\(recording): no room, as \(rooms.reasonForNoRoom(in: scans, training: training))")
        }
    }
}

extension RoomEvent {
    /// The event as a line of JSON.
    var json: String {
        var json = JSONText()
        json.add("t", instant.seconds, decimals: 3)
        json.add("type", "room")
        json.add("event", kind.rawValue)
        json.add("room", room)
        json.add("probability", probability, decimals: 4)
        return json.text
    }
}

extension RoomEstimate {
    /// The estimate as a line of JSON.
    fileprivate var json: String {
        var json = JSONText()
        json.add("t", instant.seconds, decimals: 3)
        json.add("type", "estimate")
        json.add("room", content: room.map { .string($0) } ?? .null)
        json.add("probability", probability, decimals: 4)
        json.add(
            "candidates",
            candidates.prefix(3).map { candidate in
                var json = JSONText()
                json.add("room", content: candidate.room.map { .string($0) } ?? .null)
                json.add("probability", candidate.probability, decimals: 4)
                return json
            })
        return json.text
    }
}
