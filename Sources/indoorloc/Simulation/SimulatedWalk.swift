import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets

/// What `simulate` does: writes a recording of a walk.
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
            throw DataSetError(description: "\(path): \(error). Give a walk's document.")
        }
        let simulator: WalkSimulator
        do throws(SimulationError) {
            var script = try WalkScript(json: document)
            for change in changes { try script.settings.set(change.name, to: change.value) }
            simulator = try WalkSimulator(venue: packet.venue, script: script, seed: seed)
        } catch {
            throw DataSetError(description: "\(path): \(error)")
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
        let more = crossings.count == 1 ? "" : ", and so do \(crossings.count - 1) more of its ways"
        StandardError.line(
            "\(path): the way to points[\(first.point)] goes through \(first.walls.counting("wall"))\(more); "
                + "lead the walk through the doors")
    }
}

/// A setting of the simulator that the command line changes.
private struct SettingChange {
    let name: String
    let value: SimulationSettings.Value

    /// Reads `NAME=VALUE`.
    ///
    /// - Throws: `UsageError` if it is something else, or if the simulator has no such setting or refuses the value.
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
            // A walk's document has its settings under this name, a command line has not.
            let text = "\(error)".trimmingPrefix("settings.")
            throw UsageError(message: "--set \(text)", command: command)
        }
    }
}
