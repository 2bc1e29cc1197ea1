import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets

/// The recording of a simulated walk: `simulate`.
struct SimulatedWalk: Sendable {
    private let venue: String
    private let path: String
    private let output: OutputFile
    private let seed: UInt64
    private let changes: [SettingChange]

    init(_ arguments: ParsedArguments) throws {
        venue = try arguments.requiredInput("venue")
        path = try arguments.requiredInput("path")
        output = try arguments.requiredOutputFile("output", isPrivate: true)
        seed = try arguments.seed()
        changes = try (arguments.values["set"] ?? []).map { try SettingChange($0, of: arguments.syntax.name) }
    }

    func run() throws {
        try output.check()
        let packet = try VenuePacketReader().read(venue)
        let document: Data
        do throws(BoundedFileError) {
            document = Data(try BoundedFile.read(path, limit: InputLimits.standard.walk))
        } catch {
            throw CommandError(description: "\(path): \(error). It must be the document of a walk.")
        }
        let simulator: WalkSimulator
        do throws(SimulationError) {
            var script = try WalkScript(json: document)
            for change in changes { try script.settings.set(change.name, to: change.value) }
            simulator = try WalkSimulator(venue: packet.venue, script: script, seed: seed)
        } catch {
            throw CommandError(description: "\(path): \(error)")
        }
        warnOfWalls(simulator)
        let progress = ProgressLine()
        progress.show("simulate: walking")
        let draft = try output.draft()
        var writer = try RecordingWriter(
            path: output.path, header: simulator.header, descriptor: draft.descriptor)
        for entry in simulator.entries() {
            progress.show("simulate: writing \(Int(entry.instant?.seconds ?? 0)) s")
            try writer.write(entry)
        }
        try writer.close()
        try draft.commit()
        progress.clear()
    }

    private func warnOfWalls(_ simulator: WalkSimulator) {
        let crossings = simulator.wallCrossings
        guard let first = crossings.first else { return }
        let more = crossings.count == 1 ? "" : ", and \(crossings.count - 1) more of its segments cross walls"
        StandardError.line(
            "\(path): the segment to points[\(first.point)] crosses \(first.walls.counting("wall"))\(more); "
                + "add points at the doors")
    }
}

/// A setting of the simulator given by `--set`.
private struct SettingChange {
    let name: String
    let value: SimulationSettings.Value

    /// Reads `NAME=VALUE`.
    ///
    /// - Throws: `UsageError` if the text is malformed, or if the simulator rejects the setting or its value.
    init(_ text: String, of command: String) throws(UsageError) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw UsageError(message: "--set must be NAME=VALUE, not '\(text)'", command: command)
        }
        name = parts[0]
        switch (Double(parts[1]), parts[1]) {
        case (_, "true"): value = .flag(true)
        case (_, "false"): value = .flag(false)
        case (let number?, _): value = .number(number)
        default:
            let message = "--set \(name) must be a number, true or false, not '\(parts[1])'"
            throw UsageError(message: message, command: command)
        }
        do throws(SimulationError) {
            var settings = SimulationSettings()
            try settings.set(name, to: value)
        } catch {
            // In a walk's document, settings have this prefix; on the command line they don't.
            let text = "\(error)".trimmingPrefix("settings.")
            throw UsageError(message: "--set \(text)", command: command)
        }
    }
}

/// The comparison of the engine with theoretical bounds: `simulate --bound`.
struct BoundComparison: Sendable {
    private let venue: String
    private let mapID: MapID?
    private let settings: StaticHallSettings
    private let particles: Int
    private let seed: UInt64
    private let isJSON: Bool

    init(_ arguments: ParsedArguments) throws {
        var settings = StaticHallSettings()
        settings.areaPerBeacon = try arguments.decimal("area", in: 1...10_000, else: settings.areaPerBeacon)
        settings.shadowing = try arguments.decimal("sigma", in: 0.1...20, else: settings.shadowing)
        settings.exponent = try arguments.decimal("exponent", in: 1...6, else: settings.exponent)
        settings.height = try arguments.decimal("height", in: 0.1...20, else: settings.height)
        settings.seconds = try arguments.number("seconds", in: 1...600, else: settings.seconds)
        settings.places = try arguments.number("places", in: 1...1_000_000, else: settings.places)
        settings.gridEdge = try arguments.decimal("grid", in: 0.02...5, else: settings.gridEdge)
        settings.isIndependent = arguments.has("independent")
        self.settings = settings
        mapID = arguments.has("map") ? MapID(rawValue: try arguments.number("map", in: 0...Int.max, else: 0)) : nil
        particles = try arguments.number("particles", in: 100...1_000_000, else: PositioningSettings().particleCount)
        venue = try arguments.requiredInput("venue")
        seed = try arguments.seed()
        isJSON = arguments.has("json")
    }

    func run() throws {
        let venue = try VenuePacketReader().read(venue).venue
        let progress = ProgressLine()
        defer { progress.clear() }
        let result: StaticComparison
        do throws(StaticHallError) {
            result = try StaticComparison.measure(
                venue: venue, mapID: mapID, settings: settings, particleCount: particles, seed: seed
            ) { done in progress.show("places: \(done) of \(settings.places)") }
        } catch {
            throw CommandError(description: "\(self.venue): \(error)")
        }
        progress.clear()
        try StandardOutput.write((isJSON ? result.json : result.lines) + "\n")
    }
}

extension ParsedArguments {
    /// The value of an option, a number within `range`; `standard` if the option was not given.
    fileprivate func decimal(
        _ option: String, in range: ClosedRange<Double>, else standard: Double
    ) throws(UsageError) -> Double {
        guard let text = value(option) else { return standard }
        guard let number = Double(text), range.contains(number) else {
            let allowed = "a number from \(range.lowerBound) to \(range.upperBound)"
            throw UsageError(message: "--\(option) must be \(allowed), not '\(text)'", command: syntax.name)
        }
        return number
    }
}

extension StaticComparison {
    /// The figures as a JSON object.
    var json: String {
        var json = JSONText()
        json.add("beacons", beacons)
        json.add("places", places)
        json.add("engine", engine, decimals: 4)
        json.add("exact", exact, decimals: 4)
        json.add("cramerRao", cramerRao, decimals: 4)
        json.add("engineAtDefaults", engineAtDefaults, decimals: 4)
        json.add("ratio", ratio, decimals: 4)
        return json.text
    }

    /// The figures, one per line, with the ratio last.
    var lines: String {
        func metres(_ value: Double) -> String { JSONText.number(value, decimals: 3) + " m" }
        return """
            places                 \(places), beacons \(beacons)
            engine                 \(metres(engine))
            exact posterior mean   \(metres(exact))
            Cramer-Rao bound       \(metres(cramerRao))
            engine at defaults     \(metres(engineAtDefaults))
            engine / exact         \(JSONText.number(ratio, decimals: 3))
            """
    }
}
