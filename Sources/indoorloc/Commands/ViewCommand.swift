import Foundation
import IndoorLocalization
import LiveMap
import ScanRecording
import VenuePackets

/// The command `view`: shows a recording or a radio map on a page.
struct ViewCommand: Command {
    static let syntax = CommandSyntax(
        name: "view", operands: "FILE", operandCount: 1...1,
        summary: "show a recording or a radio map in a web browser",
        details: """
            FILE is a recording, a Bluetooth capture, or a radio map of 'indoorloc survey'; its content determines which.

            A recording is played through a session, as by 'replay'. The page shows the plan, the particles, the
            position with its 68 % radius, the received beacons, the route to --goal, and the ground truth with the error
            if the recording has it. A time line shows states, floors, events and errors; play, pause and seek work with
            the mouse, by touch and on the keyboard. For a radio map, the page shows the expected RSSI of each beacon and its
            standard deviation, the survey, and the leave-one-out residuals of the survey points.

            Prints the URL of the page, and serves it until the command is interrupted. Only processes of this host
            have access. With --output, the command writes the page with all its content to one HTML file instead, which
            needs no server. The file contains the positions, so only its owner can read it.

            example: indoorloc view --venue Fixtures/office Fixtures/recordings/stairs/scan.jsonl.gz

            example: indoorloc view --venue Fixtures/office --goal Books --output page.html \\
                         Fixtures/recordings/one-floor/scan.jsonl.gz

            example: indoorloc view --venue Fixtures/office map.json.gz
            """,
        options: [
            .venue, .radioMap, .seed, .method, .settings, .set, .geofences, .beaconLayout, .lenient,
            CommandOption(name: "goal", argument: "PLACE", help: "show the route to MAP,X,Y or to a point of interest"),
            .loopbackAddress, .open,
            CommandOption(name: "output", short: "o", argument: "FILE", help: "write one HTML file and end"),
            .overwrite,
        ] + VenueServerOptions.packetOptions)

    private let venue: String
    private let server: VenueServerOptions
    private let radioMap: String?
    private let file: String
    private let name: String
    private let strictness: RecordingReader.Strictness
    private let seed: UInt64
    private let settings: SettingsStack
    private let geofences: GeofenceOption?
    private let layouts: [BeaconLayout]
    private let goal: RouteGoal?
    private let address: LiveMapAddress
    private let opens: Bool
    /// The first of the given options that only a recording uses; nil for none.
    private let optionOfRecordings: String?
    private let output: OutputFile?

    init(_ arguments: ParsedArguments) throws {
        guard arguments.has("venue") else {
            throw UsageError(message: "--venue is missing; it has the floor plan", command: Self.syntax.name)
        }
        venue = try arguments.requiredInput("venue")
        server = try VenueServerOptions(arguments, isRequired: false)
        radioMap = try arguments.input("radio-map")
        file = try arguments.input(operand: 0)
        name = arguments.operands[0]
        strictness = arguments.strictness
        seed = try arguments.seed()
        settings = try arguments.settings()
        geofences = try arguments.geofences()
        layouts = try arguments.beaconLayouts()
        goal = arguments.value("goal").map(RouteGoal.init)
        address = try arguments.loopbackAddress(
            remedy: "and 'view' has no token; use 127.0.0.1, or write a file with --output")
        opens = arguments.has("open")
        optionOfRecordings = ["radio-map", "seed", "method", "geofences", "beacon-layout", "goal"]
            .first(where: arguments.has)
        output = arguments.outputFile("output", isPrivate: true)
        if output != nil, let other = ["http", "open"].first(where: arguments.has) {
            throw UsageError(message: "--output and --\(other) can't be combined", command: Self.syntax.name)
        }
    }

    func run() async throws {
        try output?.check()
        // An address in use is reported before the recording is played.
        let listener = output == nil ? try LiveMapListener(address) : nil
        let content = try await content()
        if let output { return try output.write(try LiveMapPage.document(await content.document())) }
        guard let listener else { return }
        let server = try LiveMapServer(content: content, listener: listener)
        defer { server.stop() }
        try StandardOutput.write(server.url + "\n")
        if opens { LocalPage.open(server.url) }
        await LocalPage.waitForInterruption()
    }

    /// Reads the file and plays it if it is a recording.
    private func content() async throws -> LiveMapRecording {
        if try ViewedFile.isRadioMap(file, strictness) {
            if let optionOfRecordings {
                throw UsageError(
                    message: "--\(optionOfRecordings) requires a recording; \(name) is a radio map",
                    command: Self.syntax.name)
            }
            let packet = try await server.packet(venue, radioMap: file)
            return LiveMapRecording(
                mode: .radioMap, title: title, venues: [packet.venue], plans: PacketPlans(PlanFiles(packet)),
                radioMap: LiveMapRadioMap(
                    venue: packet.venue, model: settings.resolved(in: packet.venue).localization.positioning.signal))
        }
        let packet = try await server.packet(venue, radioMap: radioMap)
        let route = try goal.map { try RemainingRoute(to: $0.place(in: packet.venue), in: packet.venue) }
        geofences?.warn(of: [packet.venue])
        let session = RecordedSession(
            venues: [packet.venue], settings: settings, seed: seed, strictness: strictness,
            geofences: geofences?.fences ?? [], layouts: layouts)
        let recorder = try ViewedRecording(path: file, session: session, route: route).play()
        return recorder.recording(
            title: title, venues: [packet.venue], plans: PacketPlans(PlanFiles(packet)))
    }

    /// The last two parts of the path, as many recordings have the same file name.
    private var title: String {
        guard name != ParsedArguments.standardInput else { return "standard input" }
        return name.split(separator: "/").suffix(2).joined(separator: "/")
    }
}

/// The kind of a file that `view` shows.
enum ViewedFile {
    /// Returns whether a file is a radio map rather than a recording.
    ///
    /// Reads the first entry, and the whole file only if the entry isn't one of a recording.
    ///
    /// - Throws: `CommandError` with the errors of both readers if neither can read the file.
    static func isRadioMap(_ path: String, _ strictness: RecordingReader.Strictness) throws -> Bool {
        do {
            _ = try RecordedReadings(path: path, strictness: .strict).next(truth: { _ in })
            return false
        } catch let recordingError {
            do throws(RadioMapFileError) {
                _ = try RadioMapFile.read(path)
                return true
            } catch let radioMapError {
                guard FileManager.default.isReadableFile(atPath: path) else { throw recordingError }
                // Broken lines of a recording that is read leniently are skipped.
                guard strictness == .strict else { return false }
                throw CommandError(
                    description: "\(path) is neither a recording (\(recordingError)) nor a radio map "
                        + "(\(radioMapError))")
            }
        }
    }
}
