import Foundation
import IndoorLocalization
import LiveSurvey
import MQTTSharing
import TagTracking
import TagTrackingService
import VenueExchange
import VenuePackets

/// The command `track`: locates tags from the messages of gateways, on one machine.
package struct TrackCommand: Command {
    package static let syntax = syntaxOfProgram(
        tool: "indoorloc",
        notes: """


            To write the outputs to a PostgreSQL database as well, use the same command of the other program:
            'indoorloc-fleet track --database'.
            """)

    /// Returns the syntax of the command in a program.
    ///
    /// - Parameters:
    ///   - more: options that the program adds.
    ///   - notes: paragraphs about these options.
    package static func syntaxOfProgram(
        tool: String, adding more: [CommandOption] = [], notes: String = "", example: String = ""
    ) -> CommandSyntax {
        CommandSyntax(
            tool: tool, name: "track", operands: "", operandCount: 0...0,
            summary: "locate tags from the messages of fixed gateways, on one machine",
            details: """
                Subscribes to the messages of gateways (ESPresense, OpenMQTTGateway, Theengs, Ruuvi, Minew, Shelly, Tasmota,
                room-assistant, Kontakt.io, raddec, 'indoorloc scan --publish'), and locates each tag that they receive. The
                venue contains the gateways as receivers. Prints one JSON line for each output: "tag", "epoch", "sequence",
                "time", and "type": present, position, enterRoom, exitRoom, enterFence, exitFence or away. The outputs of a
                tag increase in epoch and sequence.

                With --state, a start continues each tag where the earlier process was, also after a crash or kill -9. SIGTERM
                and SIGINT save the state and end the command with exit status 0. SIGHUP, or a change of the file, reads --tags
                again: tags that left it are removed everywhere. SIGUSR1 writes a line for each tag to standard error: which gateways
                hear it, with the mean RSSI and the time of the latest reading. --topic may be repeated and replaces the
                topics on which gateways publish by default; FORMAT is one of \(Self.formats). With --output-prefix, outputs
                are also published over the broker, and with --home-assistant the tags also appear in Home Assistant. With
                --http, the command serves a page of all tags, their data as JSON, GeoJSON and a stream, and metrics. It
                also accepts messages of gateways that use HTTP; if all of them do, --broker isn't needed.

                With --alerts, the lines have "type": alert when an alert begins or ends, too; --output-prefix,
                --home-assistant and --http have them as well. A change of the file, or SIGHUP, reads it again.

                With --rooms instead of --venue, there is no floor plan: the output "room" has the trained room of each tag
                ("label"; missing outside of them) with the probabilities of all rooms. Rooms are trained on the
                page of --http, by holding a tag in each for a minute, or with 'rooms train --tag'. The page also corrects a
                room, and shows neither alerts nor the history. A change of the file is read again.

                With --survey, people mark on the page where they stand with a tag, from any telephone. Each walk becomes a
                recording in the folder, for 'survey'. After each walk, a radio map is learned in the background and judged by
                walks that are left out. A button writes it into the folder of --venue as the packet's next edition, which
                the tags use at once; another one takes it back.

                With --record, the readings of tags that move are also recorded, of at most \(RecordedTags.Limits().recorded) tags at once,
                from which 'indoorloc survey --self --tags' learns the powers of the receivers; with --learned, the command
                uses the result from its next start on.

                --demo needs neither gateways nor a broker: it simulates 50 tags in a building of its own, or in that of
                --venue, serves the page at a free port of this host, and ends with Ctrl-C. The tags walk straight through
                walls.\(notes)

                example: \(tool) track --demo --open
                         \(tool) track --broker mqtt://localhost --venue Fixtures/tags/office --state state
                         \(tool) track --broker mqtt://localhost --rooms home.json --http 8080\(example)
                """,
            options: options + more)
    }

    /// In statements, because Swift 6.2 doesn't find the types of such a long expression.
    private static var options: [CommandOption] {
        var options = BrokerOptions.options
        options += [
            CommandOption(name: "demo", help: "simulate gateways and 50 tags, instead of receiving messages"),
            .open,
            .topic,
        ]
        options += FleetOptions.venueOptions
        options.append(TrackRooms.option)
        options += FleetOptions.tagOptions
        options += [
            CommandOption(
                name: "state", argument: "DIR",
                help: "folder for the state of the tags (default: systemd's $STATE_DIRECTORY, or else none)"),
            SurveyOption.option(with: "a tag"),
            .recordFolder("what the receivers hear of moving tags in this folder, a file for each tag and hour"),
            .recordLimit, .learned,
            CommandOption(
                name: "history", argument: "FILE",
                help: "store visits of rooms and positions in this SQLite file, for 'history' and the page's data"),
            CommandOption(
                name: "history-days", argument: "N",
                help: "delete the history after N days (default \(historyDays))"),
            CommandOption(
                name: "history-size", argument: "MB",
                help: "delete the oldest history beyond N megabytes (default \(historyMegabytes))"),
            CommandOption(
                name: "output-prefix", argument: "PREFIX",
                help: "also publish the outputs over the broker, under topics that begin with PREFIX"),
            CommandOption(
                name: "output-name", argument: "NAME",
                help:
                    "name of this process in the topic of its status, another one for each process under a prefix "
                    + "(default \(MQTTOutputSettings().instance))"),
            CommandOption(
                name: "home-assistant",
                help: "also announce the tags of the register to Home Assistant"),
            CommandOption(
                name: "espresense-companion", argument: "FILE",
                help:
                    "also publish the devices of this configuration (config.yaml) under the topics of "
                    + "ESPresense-companion, with its attributes"),
        ]
        options += AlertOptions.options
        options += LiveMapOptions.options(serving: "a page of all tags")
        options += [.seed, .seconds]
        options += CommandOption.log
        return options
    }

    /// The limits of a history by default. 50 tags that always move need about 100 MB a day, and others less: a position
    /// takes about 120 bytes, measured with `--demo`.
    private static let (historyDays, historyMegabytes) = (30, 2_000)

    private static var formats: String {
        let all = GatewayFormat.allCases.map(\.rawValue)
        return all.dropLast().joined(separator: ", ") + " or " + (all.last ?? "")
    }

    private let broker: MQTTBroker?
    private let isDemo: Bool
    private let opens: Bool
    private let filters: [GatewayFilter]
    private let fleet: FleetOptions
    /// The path of the trained rooms; nil for a venue.
    private let rooms: String?
    /// The folder of surveys; nil for none.
    private let survey: SurveyOption?
    /// The folder of recordings; nil for none.
    private let recordings: RecordingFolder?
    private let learned: LearnedEdition?
    private let stateFolder: String?
    private let publishing: MQTTOutputSettings?
    /// The configuration of ESPresense-companion; nil for none.
    private let companion: String?
    private let page: LiveMapOptions?
    private let alerts: AlertOptions?
    private let history: (path: String, settings: TagHistory.Settings)?
    private let seed: UInt64
    private let limit: Duration?

    package init(_ arguments: ParsedArguments) throws {
        isDemo = arguments.has("demo")
        opens = arguments.has("open")
        let needsBroker = !isDemo && !arguments.has("http")
        broker = needsBroker || arguments.has("broker") ? try BrokerOptions(arguments).broker : nil
        filters = try arguments.gatewayFilters()
        rooms = try TrackRooms.path(arguments)
        fleet = try FleetOptions(arguments, hasVenue: !isDemo && rooms == nil || arguments.has("venue"))
        if isDemo, let option = ["tags", "topic"].first(where: arguments.has) {
            throw UsageError(
                message: "--demo has its own tags and gateways: --\(option) has no effect", command: "track")
        }
        if let folder = try arguments.folder("state") {
            stateFolder = folder
        } else {
            let folders = ProcessInfo.processInfo.environment["STATE_DIRECTORY"]?.split(separator: ":")
            stateFolder = folders?.first.map(String.init)
        }
        alerts = try AlertOptions(arguments, hasState: stateFolder != nil)
        publishing = try Self.publishing(arguments)
        companion = try arguments.input("espresense-companion")
        page = try LiveMapOptions(arguments, standard: isDemo ? "127.0.0.1:0" : nil)
        if opens, page == nil {
            throw UsageError(message: "--open requires --http or --demo", command: arguments.syntax.name)
        }
        if broker == nil, publishing != nil {
            throw UsageError(
                message: "--output-prefix, --home-assistant and --espresense-companion require --broker",
                command: arguments.syntax.name)
        }
        if broker == nil, arguments.has("topic") {
            throw UsageError(message: "--topic requires --broker", command: arguments.syntax.name)
        }
        history = try Self.history(arguments)
        survey = try SurveyOption(
            arguments, if: page != nil && rooms == nil, requirement: "--http, and a venue")
        recordings = try RecordingFolder(arguments, namesTags: true)
        learned = LearnedEdition(arguments)
        if let option = ["record", "learned"].first(where: arguments.has), !fleet.hasVenue {
            throw UsageError(message: "--\(option) requires --venue", command: arguments.syntax.name)
        }
        // An adopted map would end the use of the learned edition, and would be judged by it until then.
        if survey != nil, learned != nil {
            throw UsageError(message: "--survey and --learned can't be combined", command: arguments.syntax.name)
        }
        seed = try arguments.seed()
        limit = try arguments.limit()
    }

    /// The file of the history and its limits; nil without one.
    private static func history(
        _ arguments: ParsedArguments
    ) throws(UsageError) -> (path: String, settings: TagHistory.Settings)? {
        let days = try arguments.number("history-days", in: 1...36_500, else: historyDays)
        let size = try arguments.number("history-size", in: 1...1_000_000, else: historyMegabytes)
        guard let path = arguments.value("history") else {
            guard let option = ["history-days", "history-size"].first(where: arguments.has) else { return nil }
            throw UsageError(message: "--\(option) requires --history", command: arguments.syntax.name)
        }
        guard !path.isEmpty else {
            throw UsageError(message: "--history must be a file path, not ''", command: arguments.syntax.name)
        }
        return (path, TagHistory.Settings(age: .seconds(86_400 * days), size: size << 20))
    }

    /// The settings of the outputs over the broker; nil if there are none.
    private static func publishing(_ arguments: ParsedArguments) throws(UsageError) -> MQTTOutputSettings? {
        guard ["output-prefix", "home-assistant", "espresense-companion"].contains(where: arguments.has) else {
            guard arguments.has("output-name") else { return nil }
            throw UsageError(
                message: "--output-name requires --output-prefix, --home-assistant or --espresense-companion",
                command: arguments.syntax.name)
        }
        var settings = MQTTOutputSettings()
        settings.prefix = arguments.value("output-prefix") ?? settings.prefix
        if let name = arguments.value("output-name") {
            do throws(SharingNameError) { settings.instance = try DeviceID(name).rawValue } catch {
                throw UsageError(message: "--output-name: \(error)", command: arguments.syntax.name)
            }
        }
        if arguments.has("home-assistant") { settings.homeAssistantPrefix = HomeAssistantDiscovery.standardPrefix }
        do throws(MQTTSharingError) { try settings.check() } catch {
            throw UsageError(message: "--output-prefix: \(error)", command: arguments.syntax.name)
        }
        return settings
    }

    package func run() async throws { try await run(into: []) }

    /// Returns the packet of the venue, or the edition that was learned from it.
    private func usedPacket(_ settings: inout FleetSettings) async throws -> (packet: VenuePacket, isLearned: Bool) {
        let packet = try await fleet.packet()
        guard let edition = learned?.edition(of: packet) else { return (packet, false) }
        settings.knowsReceiverPowers = packet.venue.receivers.contains { $0.measuredPower != nil }
        return (edition, true)
    }

    /// Runs the command.
    ///
    /// - Parameter others: sinks of the outputs in addition to those of the options.
    package func run(into others: [any FleetOutputSink]) async throws {
        var settings = fleet.settings
        let used = fleet.hasVenue ? try await usedPacket(&settings) : nil
        let packet = used?.packet
        let demo = isDemo ? DemoFleet(venue: packet?.venue, seed: seed) : nil
        let rooms = try rooms.map { try TrackRooms($0, canChange: self.page != nil) }
        guard let venue = rooms?.venue ?? packet?.venue ?? demo?.venue else { return }
        let register = try demo?.register ?? fleet.register()
        let rules = try alerts?.rules(venue, register)
        let page = try page.map { options in
            try TrackPage(options, venue, packet.map { PlanFiles($0) } ?? PlanFiles(), register, opens: opens)
        }
        try survey?.createFolder()
        try recordings?.prepare()
        let folder = try stateFolder.map { path throws(StateFolderError) in try StateFolder(path) }
        var setup = FleetEngine.Setup(
            model: FleetModel(venue: venue, settings: settings), register: register,
            formats: TrackPage.formats(with: filters.formats), seed: seed,
            partitionCount: ProcessInfo.processInfo.activeProcessorCount,
            rooms: rooms?.training)
        // A learned edition has the plan of the packet.
        setup.keepsPositions = used?.isLearned ?? false
        let clock = TrackRun.SharedClock()
        let started = try FleetEngine.start(setup, in: folder, at: clock.now())
        for problem in started.problems { StandardError.line(problem, .warning) }
        let place =
            rooms.map { "\($0.training.rooms.count.counting("trained room"))" }
            ?? "\(venue.name) with \(venue.receivers.count.counting("receiver"))"
        StandardError.line(
            "tracking in \(place); start "
                + "\(started.epoch), \(started.restoredTags.counting("tag")) restored", .info)
        let hadAlerts = folder.map { TrackAlerts.exist(in: $0) } ?? false
        let trackedAlerts =
            alerts != nil || hadAlerts
            ? try TrackAlerts(alerts, rules ?? AlertRules(), venue, epoch: started.epoch, in: folder) : nil
        var sinks: [any FleetOutputSink] = []
        var published: MQTTOutputSink?
        if var publishing, let broker {
            let known = Set(register.entries.keys)
            if publishing.homeAssistantPrefix != nil, fleet.tags == nil {
                StandardError.line(
                    "--home-assistant announces the tags of a register, and no others: give --tags", .warning)
            }
            // Those that left the register while no process ran are withdrawn below.
            publishing.homeAssistantTags = known.union(started.earlierRegister)
            publishing.usesAlerts = trackedAlerts != nil
            publishing.companion = try companion.map { try CompanionHouse(configuration: $0, venue) }
            publishing.hasTrainedRooms = rooms != nil
            let sink = try MQTTOutputSink(broker, settings: publishing) { error in
                StandardError.line("outputs: \(error)", .warning)
            }
            await sink.write(started.places)
            await sink.remove(started.removedTags)
            await sink.useHomeAssistant(for: known)
            await sink.start()
            sinks.append(sink)
            published = sink
        }
        let history = try history.map { path, settings in
            try TagHistory(path: path, rooms: venue.rooms, settings: settings) { report in
                switch report {
                case .unwritten(let error): StandardError.line("--history: \(error); outputs wait in memory", .warning)
                case .unpruned(let error):
                    StandardError.line("--history: \(error); the oldest visits and positions are not deleted", .warning)
                case .written: StandardError.line("--history: outputs are stored again", .notice)
                case .lost(let count):
                    StandardError.line("--history: \(count.counting("output")) not stored", .warning)
                }
            }
        }
        if let history {
            await history.use(register: register, removing: started.removedTags)
            sinks.append(history)
        }
        sinks += others
        let registerFile = fleet.registerFile(register)
        let desk = survey.map { option in
            let folder = option.folder
            let surveyed = SurveyedFleet(started.engine) { registerFile?.current ?? register }
            let maps = SurveyMapDesk(
                surveyed, folder: folder, place: fleet.surveyPlace(of: packet),
                priority: SurveyOption.learningPriority)
            let desk = SurveyDesk(surveyed, folder: folder, maps: maps) { clock.now() }
            sinks.append(FleetSurveySink(surveyed, desk))
            return desk
        }
        let recorder = recordings.map { _ in TagRecorder(started.engine) }
        if let recorder { sinks.append(recorder) }
        if let page {
            await page.board.use(register: register, removing: [])
            await page.board.write(started.places)
            sinks.append(page.board)
        }
        let run = TrackRun(
            clock: clock, engine: started.engine, fleet: fleet, places: started.places,
            register: register, registerFile: registerFile, state: folder, sinks: sinks,
            published: published, broker: broker,
            filters: filters.map(\.filter), page: page, demo: demo,
            history: history, alerts: trackedAlerts, rooms: rooms, survey: desk,
            recording: recordings.flatMap { folder in recorder.map { ($0, folder) } })
        do {
            try await run.follow(limit: limit)
        } catch {
            await history?.finish()
            throw error
        }
        await history?.finish()
        await published?.stop()
    }
}
