import IndoorLocalization
import LocalizationFigures
import ScanRecording

/// The command `plot residuals`: draws the differences between measured and expected RSSI.
struct PlotResidualsCommand: Command {
    static let syntax = CommandSyntax(
        name: "plot residuals", operands: "DATASET|RECORDING...", operandCount: 0...Int.max,
        summary: "draw measured minus expected RSSI, of all readings and of each beacon, as SVG",
        details: """
            \(PlotSource.details) With --venue and no recording, the readings are those of the survey in the radio map.

            The expected RSSI is that of the engine's tables at the place of the ground truth. The mean difference is the
            offset of the receiver; a beacon that differs from the others was moved, or its power was changed.

            example: indoorloc plot residuals --output residuals.svg Fixtures/office
                     indoorloc plot residuals --venue Fixtures/real/openhps --output survey.svg
            """,
        options: PlotSource.options + [.beacon, .seed, .settings, .set] + PlotOutput.options)

    private let source: PlotSource
    private let beacons: [String]
    private let seed: UInt64
    private let settings: SettingsStack
    private let output: PlotOutput

    init(_ arguments: ParsedArguments) throws {
        source = try PlotSource(arguments, needsRecordings: false)
        beacons = arguments.values["beacon"] ?? []
        seed = try arguments.seed()
        settings = try arguments.settings()
        output = PlotOutput(arguments, isPrivate: false)
    }

    func run() async throws {
        try output.check()
        let progress = ProgressLine()
        defer { progress.clear() }
        let input = try source.read(settings, seed: seed, progress)
        let placed = try input.placedReadings(strictness: source.strictness, progress)
        let names = BeaconNames(input.venue)
        let chosen = try Set(beacons.map { try names.beacon($0, command: Self.syntax.name) })
        let model = settings.resolved(in: input.venue).localization.positioning.signal
        progress.show("tables of \(input.name)")
        let residuals = ResidualList(placed, of: chosen, field: SignalField(venue: input.venue, model: model), names)
        progress.clear()
        guard residuals.count > 0 else {
            throw CommandError(description: "\(input.name): \(input.reasonForNoReading)")
        }
        try output.write(
            Figure.residuals(
                title: "\(input.name): measured minus expected RSSI", of: residuals.beacons,
                caption: [residuals.caption] + (input.recordings.isEmpty ? [Self.remark] : [])))
    }

    /// The caption of a radio map's own readings.
    private static let remark =
        "The radio map was learned from these readings, so the differences on new recordings are larger."
}

/// The residuals of readings at known places.
struct ResidualList: Sendable {
    /// The residuals of each beacon, ordered by identity.
    let beacons: [BeaconResiduals]
    /// The number of readings of beacons that the venue doesn't have, or off the grid of its maps.
    let skipped: Int

    /// - Parameter chosen: the beacons; empty for all.
    init(
        _ placed: PlacedReadings, of chosen: Set<BeaconIdentity>, field: SignalField, _ names: BeaconNames
    ) {
        var values: [BeaconIdentity: [Double]] = [:]
        var skipped = 0
        for reading in placed.readings(of: chosen) {
            guard let index = field.indexes[reading.beacon],
                let expected = field.expectation(of: index, at: reading.point, on: reading.mapID)
            else {
                skipped += 1
                continue
            }
            values[reading.beacon, default: []].append(reading.rssi - expected.rssi)
        }
        beacons = values.sorted { $0.key < $1.key }.map {
            BeaconResiduals(name: names.name(of: $0.key), values: $0.value)
        }
        self.skipped = skipped
    }

    var count: Int { beacons.reduce(0) { $0 + $1.values.count } }

    /// The mean and the standard deviation in words.
    var caption: String {
        let all = beacons.flatMap(\.values)
        let mean = all.reduce(0, +) / Double(max(1, all.count))
        let squares = all.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        let deviation = (squares / Double(max(1, all.count))).squareRoot()
        func decibels(_ value: Double) -> String {
            JSONText.number(value, decimals: 1).replacing("-", with: "−") + " dB"
        }
        let rest = skipped > 0 ? " \(skipped.counting("reading")) of other beacons or beside the plan not shown." : ""
        return
            "\(all.count.counting("reading")) of \(beacons.count.counting("beacon")): mean \(decibels(mean)), standard "
            + "deviation \(decibels(deviation)).\(rest)"
    }
}

extension PlotInput {
    /// The readings of the recordings at their ground truth, or without recordings those of the radio map.
    ///
    /// - Throws: `CommandError` if there is neither a recording nor a radio map.
    func placedReadings(
        strictness: RecordingReader.Strictness, _ progress: ProgressLine
    ) throws -> PlacedReadings {
        if !recordings.isEmpty { return try PlacedReadings(recordings, strictness: strictness, progress) }
        guard let map = venue.radioMap else {
            throw CommandError(
                description: "'\(venue.name)' has no radio map; give recordings with ground truth, or --radio-map")
        }
        return PlacedReadings(map)
    }

    /// The reason why there is no reading to draw.
    var reasonForNoReading: String {
        recordings.isEmpty
            ? "the radio map has no reading of these beacons"
            : "no reading of a beacon of the venue at a place with ground truth (mapId, x, y)"
    }
}
