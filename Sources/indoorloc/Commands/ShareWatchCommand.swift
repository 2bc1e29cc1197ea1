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
        var failure: (any Error)?
        do {
            try await work.follow { occurrence in
                if case .element(let event) = occurrence { try lines.line(event.json) } else { try lines.write() }
                return lines.isWritten
            }
        } catch { failure = error }
        await work.stop()
        await sharing.disconnect()
        do { try lines.end() } catch { failure = failure ?? error }
        if let failure, (failure as? OutputError)?.isBrokenPipe != true { throw failure }
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
