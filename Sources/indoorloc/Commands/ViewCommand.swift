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
            the mouse, by touch and on the keyboard. For a radio map, the page shows the expected RSSI of each beacon with its
            deviation, the survey, and the residuals of each survey point without itself.

            Prints the URL of the page, and serves it until the command is interrupted. Only processes of this machine
            have access. With --output, the command writes the page with all its content to one HTML file instead, which
            needs no server. The file contains the positions, so only its owner can read it.

            example: indoorloc view --venue Fixtures/office Fixtures/recordings/stairs/scan.jsonl.gz

            example: indoorloc view --venue Fixtures/office --goal Books --output page.html \\
                         Fixtures/recordings/one-floor/scan.jsonl.gz
            """,
        options: [
            .venue, .radioMap, .seed, .method, .settings, .set, .geofences, .beaconLayout, .lenient,
            CommandOption(name: "goal", argument: "PLACE", help: "show the route to MAP,X,Y or to a point of interest"),
            CommandOption(
                name: "http", argument: "ADDRESS",
                help: "loopback address to serve at (default 127.0.0.1 and a free port)"),
            CommandOption(name: "open", help: "also open the page in the default browser"),
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
    private let output: OutputFile?

    init(_ arguments: ParsedArguments) throws {
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
        address = try arguments.loopbackAddress()
        opens = arguments.has("open")
        output = arguments.outputFile("output", isPrivate: true)
        if output != nil, let other = ["http", "open"].first(where: arguments.has) {
            throw UsageError(message: "--output and --\(other) can't be combined", command: Self.syntax.name)
        }
    }

    func run() async throws {
        try output?.check()
        let content = try await content()
        if let output { return try output.write(try LiveMapPage.document(await content.document())) }
        let server = try LiveMapServer(content: content, address: address)
        defer { server.stop() }
        try StandardOutput.write(server.url + "\n")
        if opens { openBrowser(at: server.url) }
        await waitForInterruption()
    }

    /// Reads the file and plays it if it is a recording.
    private func content() async throws -> LiveMapRecording {
        if ViewedFile.isRadioMap(file) {
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

    /// The file with its folder, as the files of many recordings have the same name.
    private var title: String {
        name == ParsedArguments.standardInput
            ? "standard input" : name.split(separator: "/").suffix(2).joined(separator: "/")
    }

    private func openBrowser(at url: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["xdg-open", url]
        process.standardOutput = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            StandardError.line("--open: xdg-open can't be started: \(error.localizedDescription)")
        }
    }

    /// Waits for SIGINT or SIGTERM.
    private func waitForInterruption() async {
        let work = LiveWork<Never>(tick: .seconds(3600), limit: nil) { _ in
            while true { try await Task.sleep(for: .seconds(3600)) }
        }
        try? await work.follow { _ in true }
        await work.stop()
    }
}

/// The kind of a file that `view` shows.
enum ViewedFile {
    /// Returns whether a file is a radio map rather than a recording.
    ///
    /// Reads the first entry, and the whole file only if the entry isn't one of a recording.
    static func isRadioMap(_ path: String) -> Bool {
        do {
            _ = try RecordedReadings(path: path, strictness: .strict).next(truth: { _ in })
            return false
        } catch { return (try? RadioMapFile.read(path)) != nil }
    }
}

extension ParsedArguments {
    /// The address given by `--http`; any free port of this machine without the option.
    ///
    /// - Throws: `UsageError` if other machines can reach the address.
    fileprivate func loopbackAddress() throws(UsageError) -> LiveMapAddress {
        let text = value("http") ?? "127.0.0.1:0"
        let address: LiveMapAddress
        do { address = try LiveMapAddress(text) } catch {
            throw UsageError(message: "--http: \(error)", command: syntax.name)
        }
        guard !address.isLoopback else { return address }
        throw UsageError(
            message: "--http: other machines can reach \(address), and the page has no password; use 127.0.0.1, or "
                + "give them the file of --output", command: syntax.name)
    }
}
