import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets

/// Writes a recording of a simulated walk.
struct SimulateCommand: Command {
    static let syntax = CommandSyntax(
        name: "simulate", summary: "write a recording of a simulated walk through a venue",
        details: """
            WALK is a document as in Fixtures/office/paths; Fixtures/README.md tells its fields. The radio has
            log-distance path loss, shadowing correlated in space, fast fading, and loss by body, walls and floors;
            advertisements get lost. Settings of the walk's document can be changed with --set, such as
            --set radio.receiverOffset=-4 --set sensors.motionRate=50.

            example: indoorloc simulate --venue Fixtures/office --path Fixtures/office/paths/stairs.json -o walk.jsonl
            """,
        options: [
            .venue, CommandOption(name: "path", argument: "WALK", help: "where to walk"), .output, .seed,
            CommandOption(name: "set", argument: "NAME=VALUE", help: "change a setting of the simulator; repeatable"),
        ])

    private let venue: String
    private let path: String
    private let output: String
    private let seed: UInt64
    private let changes: [String]

    init(_ arguments: ParsedArguments) throws {
        venue = try arguments.required("venue")
        path = try arguments.required("path")
        output = try arguments.required("output")
        seed = try arguments.seed()
        changes = arguments.values["set"] ?? []
    }

    func run() throws {
        let packet = try VenuePacketReader().read(venue)
        let document: Data
        do { document = try Data(contentsOf: URL(filePath: path)) } catch {
            throw DataSetError(description: "\(path): \((error as NSError).localizedDescription)")
        }
        let simulator: WalkSimulator
        do throws(SimulationError) {
            var script = try WalkScript(json: document)
            for change in changes { try Self.apply(change, to: &script.settings) }
            simulator = try WalkSimulator(venue: packet.venue, script: script, seed: seed)
        } catch {
            throw DataSetError(description: "\(path): \(error)")
        }
        let progress = ProgressLine()
        progress.show("simulate: walking")
        var writer = try RecordingWriter(path: output, header: simulator.header)
        for entry in simulator.entries() {
            progress.show("simulate: writing \(Int(entry.instant?.seconds ?? 0)) s")
            try writer.write(entry)
        }
        try writer.close()
        progress.clear()
    }

    private static func apply(_ change: String, to settings: inout SimulationSettings) throws(SimulationError) {
        let parts = change.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw .malformedDocument(field: "--set", reason: "'\(change)' is not NAME=VALUE")
        }
        switch (Double(parts[1]), parts[1]) {
        case (_, "true"): try settings.set(parts[0], to: .flag(true))
        case (_, "false"): try settings.set(parts[0], to: .flag(false))
        case (let number?, _): try settings.set(parts[0], to: .number(number))
        default: throw .malformedDocument(field: "--set", reason: "'\(parts[1])' is neither a number, true nor false")
        }
    }
}
