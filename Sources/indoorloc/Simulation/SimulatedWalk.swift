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
