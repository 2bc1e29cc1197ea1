import IndoorLocalization
import VenuePackets

/// The command `rooms watch`: prints the trained room of this device as it changes.
struct RoomsWatchCommand: Command {
    static let syntax = CommandSyntax(
        name: "rooms watch", operands: "", operandCount: 0...0,
        summary: "print the trained room that this device is in, from its Bluetooth radio",
        details: """
            Prints one JSON line for each room that is entered or left: t (seconds since the first reading), type
            "room", event, room and probability. With --current, also prints the present room once per second. The
            device also leaves a room when it has received none of the trained beacons for 30 s.

            The training data come from 'indoorloc rooms train', which trains live or from recordings.

            example: indoorloc rooms watch --training home.json --seconds 600
            """,
        options: [
            CommandOption(name: "training", argument: "ROOMS", help: "training data from 'indoorloc rooms train'"),
            CommandOption(
                name: "classifier", argument: "NAME",
                help: ClassifierKind.allCases.map(\.rawValue).joined(separator: ", ") + " (default adaptive)",
                proposals: .words(of: ClassifierKind.self)),
        ] + RoomRuleOptions.options + [
            CommandOption(name: "current", help: "also print the present room once per second")
        ] + HeardSource.options + CommandOption.log)

    private let source: HeardSource
    private let training: String
    private let kind: ClassifierKind
    private let rooms: RoomSettings
    private let printsCurrent: Bool

    init(_ arguments: ParsedArguments) throws {
        training = try arguments.requiredInput("training")
        kind = try arguments.word("classifier", of: ClassifierKind.self) ?? .adaptive
        rooms = try arguments.roomSettings()
        printsCurrent = arguments.has("current")
        source = try HeardSource(arguments)
    }

    func run() async throws {
        let training = try RoomTrainingFile.read(training)
        let uuids = Set(training.beacons.map(\.uuid)).sorted { $0.description < $1.description }
        guard uuids.count == 1, let uuid = uuids.first else {
            let found = uuids.isEmpty ? "no beacons" : "beacons of \(uuids.count) UUIDs"
            throw CommandError(
                description: "\(self.training) has \(found); train rooms of one building, whose beacons have one UUID")
        }
        var settings = ScannerSettings()
        settings.rooms = rooms
        var listener = Listener(printsCurrent: printsCurrent)
        let classifier = kind.classifier(training)
        try await source.listen(settings, &listener) { machine in
            _ = machine.regions.track(BeaconRegion(uuid: uuid), id: uuid.description)
            machine.rooms.insert(classifier, for: uuid.description)
            machine.rooms.start()
        }
        if !listener.hasRoom { StandardError.line("no room was found; see 'indoorloc rooms classify --scans'") }
    }

    /// Prints room events.
    private struct Listener: ScannerListener {
        let printsCurrent: Bool
        private(set) var hasRoom = false
        private var lines = LiveOutput()

        init(printsCurrent: Bool) { self.printsCurrent = printsCurrent }

        mutating func receive(_ directive: ScanMachine.Directive) throws {
            guard case .emitRoomEvent(let event) = directive else { return try reportTrouble(directive) }
            hasRoom = true
            if event.kind != .current || printsCurrent { try lines.line(event.json) }
        }

        mutating func write() throws -> Bool {
            try lines.write()
            return lines.isWritten
        }

        mutating func end() throws { try lines.end() }
    }
}
