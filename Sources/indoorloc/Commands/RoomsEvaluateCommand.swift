import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording

/// The command `rooms evaluate`: scores room classifiers on a data set.
struct RoomsEvaluateCommand: Command {
    static let syntax = CommandSyntax(
        name: "rooms evaluate", operands: "DATASET", operandCount: 1...1,
        summary: "train classifiers on a data set's survey and score them on its tracks",
        details: """
            DATASET is a folder with venue.json, survey/*.jsonl and tracks/*.jsonl whose ground truth has "room". Each
            classifier is scored with the training of the same device and with the training of other devices:

              alone    share of scans classified correctly, each scan by itself
              scans    the same, with the classifier's memory of earlier scans of the track
              rule     share of scans after which the change rule has accepted the right room
              false/h  false changes of the accepted room per hour
              change   median seconds until a change of room is accepted, with all tracks in a row
              none     share of scans after which no room is accepted, although all were trained
              unknown  the same, with the room of the track left out of the training
              error    mean difference between the probability of an answer and the share of correct
                       answers, in percentage points, over the bins of the last table

            The last table is for the adaptive classifier with its memory. For each range of probabilities, it has the
            share of answers, their mean probability, and the share of correct answers.

            example: indoorloc rooms evaluate home
            """,
        options: RoomRuleOptions.options + [
            CommandOption(name: "json", help: "print one JSON object, with the figures of each pair of devices"),
            .lenient,
        ])

    private let path: String
    private let settings: RoomSettings
    private let isJSON: Bool
    private let strictness: RecordingReader.Strictness

    init(_ arguments: ParsedArguments) throws {
        path = arguments.operands[0]
        settings = try arguments.roomSettings()
        isJSON = arguments.has("json")
        strictness = arguments.strictness
    }

    func run() throws {
        let progress = ProgressLine()
        defer { progress.clear() }
        let dataSet = try DataSet(path: path, radioMap: nil)
        let evaluation = try RoomEvaluation(dataSet, settings: settings, strictness: strictness, progress: progress)
        var results: [(kind: ClassifierKind, pairs: [RoomEvaluation.Pair])] = []
        for kind in ClassifierKind.allCases {
            let pairs = evaluation.pairs().map { pair in
                progress.show("\(kind.rawValue): \(pair.trained) on \(pair.tested)")
                return evaluation.score(kind, trained: pair.trained, tested: pair.tested)
            }
            results.append((kind, pairs))
        }
        progress.clear()
        guard results.contains(where: { $0.pairs.contains { $0.tracks.answeredCount > 0 } }) else {
            throw CommandError(description: "\(dataSet.name): no answer to score, as \(evaluation.reasonForNoAnswer)")
        }
        let extent = evaluation.extent
        if isJSON {
            var json = JSONText()
            json.add("dataset", dataSet.name)
            json.add("rooms", extent.rooms)
            json.add("scans", extent.scans)
            json.add("rule", settings.changeRule.rawValue)
            json.add("count", settings.changeCount)
            for (kind, pairs) in results { json.add(kind.rawValue, Self.json(of: pairs)) }
            return try StandardOutput.write(json.text + "\n")
        }
        let heading = """
            \(dataSet.name): \(extent.rooms) rooms, \(extent.devices) devices, \(extent.scans) scans; \
            change rule \(settings.changeRule.rawValue)\(settings.changeRule == .immediate ? "" : " \(settings.changeCount)")


            """
        let best = results.last?.pairs.filter(\.isSame) ?? []
        try StandardOutput.write(
            heading + Self.table(results) + Self.confusions(Self.sum(best)?.tracks)
                + Self.reliability(results.last?.pairs ?? []))
    }

    private static func sum(_ pairs: [RoomEvaluation.Pair]) -> RoomEvaluation.Pair? {
        guard var sum = pairs.first else { return nil }
        for pair in pairs.dropFirst() { sum.add(pair) }
        return sum
    }

    private static func groups(_ pairs: [RoomEvaluation.Pair]) -> [(name: String, pair: RoomEvaluation.Pair)] {
        [("same", sum(pairs.filter(\.isSame))), ("other", sum(pairs.filter { !$0.isSame }))].compactMap { name, pair in
            pair.map { (name, $0) }
        }
    }

    private static func json(of pairs: [RoomEvaluation.Pair]) -> JSONText {
        var json = JSONText()
        for (name, pair) in groups(pairs) { json.add(name, pair.json) }
        json.add(
            "pairs",
            pairs.map { pair in
                var text = JSONText()
                text.add("trained", pair.trained)
                text.add("tested", pair.tested)
                text.add("figures", pair.json)
                return text
            })
        return json
    }

    private static func table(_ results: [(kind: ClassifierKind, pairs: [RoomEvaluation.Pair])]) -> String {
        var rows = [
            ["classifier", "device", "alone", "scans", "rule", "false/h", "change", "none", "unknown", "error"]
        ]
        for (kind, pairs) in results {
            for (name, pair) in groups(pairs) { rows.append([kind.rawValue, name] + pair.cells) }
        }
        return aligned(rows, leading: 2)
    }

    /// The rows as text: the first `leading` columns aligned left, the others aligned right.
    private static func aligned(_ rows: [[String]], leading: Int) -> String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).enumerated().map { column, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return column < leading ? cell.0 + space : space + cell.0
            }
            return cells.joined(separator: "  ") + "\n"
        }.joined()
    }

    /// The table of answer probabilities and shares of correct answers, for the same device and for others.
    private static func reliability(_ pairs: [RoomEvaluation.Pair]) -> String {
        var rows = [["device", "probability", "scans", "mean", "right"]]
        for (name, pair) in groups(pairs) {
            let reliability = pair.tracks.reliability
            for (index, bin) in reliability.bins.enumerated() {
                guard let mean = bin.meanProbability, let right = bin.accuracy else { continue }
                let share = Double(bin.count) / Double(reliability.count)
                rows.append(
                    [name, "\(index * 10)-\(index * 10 + 10)%"]
                        + [share, mean, right].map { JSONText.number($0 * 100, decimals: 1) + "%" })
            }
        }
        return rows.count > 1 ? "\nadaptive, probabilities of the answers:\n" + aligned(rows, leading: 2) : ""
    }

    /// The most frequent confusions of the last classifier with the same device.
    private static func confusions(_ score: RoomScore?) -> String {
        let mistakes = (score?.confusion ?? [:]).flatMap { room, reported in
            let count = reported.values.reduce(0, +)
            return reported.filter { $0.key != room }.map {
                (room: room, reported: $0.key, share: Double($0.value) / Double(count))
            }
        }
        let sorted = mistakes.filter { $0.share >= 0.01 }.sorted { left, right in
            (-left.share, left.room, left.reported ?? "") < (-right.share, right.room, right.reported ?? "")
        }
        guard !sorted.isEmpty else { return "" }
        let lines = sorted.prefix(5).map { mistake in
            let share = JSONText.number(mistake.share * 100, decimals: 0)
            return "  \(share) % of the scans in \(mistake.room) as \(mistake.reported ?? "none of the rooms")\n"
        }
        return "\nadaptive, same device, most frequent confusions:\n" + lines.joined()
    }
}

extension RoomEvaluation.Pair {
    fileprivate var cells: [String] {
        func percent(_ share: Double?) -> String { share.map { JSONText.number($0 * 100, decimals: 1) + "%" } ?? "-" }
        return [
            percent(alone.accuracy), percent(tracks.accuracy), percent(tracks.believedAccuracy),
            tracks.falseChangesPerHour.map { JSONText.number($0, decimals: 1) } ?? "-",
            joined.medianDelay.map { $0.isFinite ? JSONText.number($0, decimals: 1) + " s" : "never" } ?? "-",
            percent(tracks.nowhereShare), percent(untrained.nowhereShare),
            tracks.reliability.error.map { JSONText.number($0 * 100, decimals: 1) } ?? "-",
        ]
    }

    fileprivate var json: JSONText {
        var json = JSONText()
        json.add("scans", tracks.scanCount)
        json.add("answered", tracks.answeredCount)
        for (name, value) in [
            ("alone", alone.accuracy), ("aloneProbability", alone.meanProbability), ("accuracy", tracks.accuracy),
            ("probability", tracks.meanProbability), ("believed", tracks.believedAccuracy),
            ("falseChangesPerHour", tracks.falseChangesPerHour), ("joinedBelieved", joined.believedAccuracy),
            ("joinedFalseChangesPerHour", joined.falseChangesPerHour), ("changeSeconds", joined.medianDelay),
            ("none", tracks.nowhereShare), ("unknown", untrained.nowhereShare),
            ("reliabilityError", tracks.reliability.error),
        ] {
            json.add(name, value ?? .nan, decimals: 4)
        }
        json.add("reliability", tracks.reliability.bins.map(\.json))
        return json
    }
}

extension RoomReliability.Bin {
    fileprivate var json: JSONText {
        var json = JSONText()
        json.add("scans", count)
        json.add("probability", meanProbability ?? .nan, decimals: 4)
        json.add("right", accuracy ?? .nan, decimals: 4)
        return json
    }
}
