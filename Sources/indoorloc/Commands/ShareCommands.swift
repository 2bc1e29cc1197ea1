import Glibc
import IndoorLocalization
import MQTTSharing

/// The command `share watch`: prints the events of a room on a broker.
struct ShareWatchCommand: Command {
    static let syntax = CommandSyntax(
        name: "share watch", operands: "ADDRESS", operandCount: 1...1,
        summary: "print the positions of the devices in a room on an MQTT broker",
        details: """
            ADDRESS is mqtt[s]://[USER@]HOST[:PORT]/ROOM. Prints JSON Lines, each with "type": connected, disconnected,
            joined, left, position, message, occupancy, roomFull, serverFull or failed. The watching device joins the
            room and counts as a device there, named HOST-watch-PID by default. 'locate --share' shares positions. The
            page "Sharing" of the documentation describes topics and payloads.

            example: indoorloc share watch mqtt://broker.example.org/warehouse
            """,
        options: SharingOptions.brokerOptions + SharingOptions.limitOptions + SharingOptions.signatureOptions + [
            .seconds
        ]
            + CommandOption.log)

    private let options: SharingOptions
    private let limit: Duration?

    init(_ arguments: ParsedArguments) throws {
        // The name differs from that of a sharing process on this host, which it would replace.
        options = try SharingOptions(
            address: arguments.operands[0], what: "ADDRESS", arguments, suffix: "-watch-\(getpid())")
        limit = try arguments.limit()
    }

    func run() async throws {
        let sharing = try options.sharing()
        let work = LiveWork<SharingEvent>(tick: .milliseconds(200), limit: limit) { [options] give in
            let events = sharing.events
            try await sharing.connect()
            try await sharing.join(options.address.room)
            for await event in events { give(event) }
        }
        var lines = LiveOutput()
        var failure = FirstFailure()
        do {
            try await work.follow { occurrence in
                if case .element(let event) = occurrence { try lines.line(event.json) } else { try lines.write() }
                return lines.isWritten
            }
        } catch { failure.note(error) }
        await work.stop()
        await sharing.disconnect()
        do { try lines.end() } catch { failure.note(error) }
        try failure.check()
    }
}

extension SharingEvent {
    /// The event as one line of JSON.
    var json: String {
        var json = JSONText()
        switch self {
        case .connected: json.add("type", "connected")
        case .disconnected(let reason):
            json.add("type", "disconnected")
            json.add("reason", reason)
        case .joined(let room):
            json.add("type", "joined")
            json.add("room", room)
        case .left(let room):
            json.add("type", "left")
            json.add("room", room)
        case .position(let position): position.write(to: &json)
        case .message(let message):
            json.add("type", "message")
            json.add("device", message.device.rawValue)
            json.add("room", message.room)
            json.add("tag", message.tag)
            json.add("text", message.text)
            json.add("sentAt", message.sentAt, decimals: 3)
        case .occupancy(let room, let devices):
            json.add("type", "occupancy")
            json.add("room", room)
            json.add("devices", devices)
        case .roomFull(let room, let capacity):
            json.add("type", "roomFull")
            json.add("room", room)
            json.add("capacity", capacity)
        case .serverFull: json.add("type", "serverFull")
        case .failed(let error):
            json.add("type", "failed")
            json.add("message", error.message)
        }
        return json.text
    }
}

extension SharedPosition {
    fileprivate func write(to json: inout JSONText) {
        json.add("type", "position")
        json.add("device", device.rawValue)
        json.add("name", name)
        json.add("room", room)
        json.add("venueId", venueID.rawValue)
        json.add("mapId", mapID.rawValue)
        if let level { json.add("level", level) }
        json.add("x", x, decimals: 3)
        json.add("y", y, decimals: 3)
        json.add("radius", radius, decimals: 3)
        json.add("label", label)
        json.add("latitude", coordinate?.latitude, decimals: 8)
        json.add("longitude", coordinate?.longitude, decimals: 8)
        json.add("course", course, decimals: 1)
        json.add("sentAt", sentAt, decimals: 3)
    }
}

/// The command `share keygen`: creates a signing key.
struct ShareKeygenCommand: Command {
    static let syntax = CommandSyntax(
        name: "share keygen", operands: "FILE", operandCount: 1...1,
        summary: "create a key with which a device signs what it shares",
        details: """
            Writes a secret key to FILE, which must not exist and which only its owner may read. Prints the line of the
            device, named --share-name, for the other devices' list of trusted devices (--share-trust). Give FILE to
            'locate' and 'serve' with --share-sign-key.

            example: indoorloc share keygen --share-name forklift-7 forklift-7.key >>trusted-devices
            """,
        options: [SharingOptions.nameOption])

    private let file: String
    private let line: String
    private let key = SharingSigningKey.generate()

    init(_ arguments: ParsedArguments) throws {
        file = arguments.operands[0]
        line = "\(key.publicKey) \(try SharingOptions.device(arguments))"
    }

    func run() async throws {
        try key.write(to: file)
        var lines = LineOutput()
        try lines.line(line)
        try lines.flush()
    }
}

/// The command `share forget`: removes a device from Home Assistant.
struct ShareForgetCommand: Command {
    static let syntax = CommandSyntax(
        name: "share forget", operands: "ADDRESS", operandCount: 1...1,
        summary: "remove a device that '--home-assistant' announced to Home Assistant",
        details: """
            ADDRESS is mqtt[s]://[USER@]HOST[:PORT]/ROOM. --share-name is the device, and --share-prefix is the prefix
            with which it shares. Removes the device's retained messages from the broker and prints their topics. Stop
            the device's sharing first, or it announces itself again.

            example: indoorloc share forget --share-name forklift-7 mqtt://broker.example.org/warehouse
            """,
        options: SharingOptions.brokerOptions)

    private let options: SharingOptions

    init(_ arguments: ParsedArguments) throws {
        options = try SharingOptions(address: arguments.operands[0], what: "ADDRESS", arguments)
    }

    func run() async throws {
        let removed = try await MQTTPositionSharing.forget(
            options.device, on: options.address.broker, settings: options.settings)
        if removed.isEmpty { StandardError.line("the broker retains no message of '\(options.device)'") }
        var lines = LineOutput()
        for topic in removed { try lines.line("removed \(topic)") }
        try lines.flush()
    }
}
