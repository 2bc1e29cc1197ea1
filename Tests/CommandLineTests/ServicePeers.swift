import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import XCTest

/// A client that has subscribed to the outputs. A broker first sends the retained ones.
struct OutputReader: Sendable {
    private let link: MQTTLink
    /// All messages, in order. A reader takes each of them once.
    let messages: AsyncStream<MQTTMessage>

    /// Connects, and waits until the broker has granted the subscriptions: it doesn't retain all messages.
    init(port: UInt16, _ filters: [String] = ["site/#", "homeassistant/#"]) async throws {
        let name = "reader" + String(UInt64.random(in: .min ... .max), radix: 36)
        let (link, events) = MQTTLink.open(
            MQTTBroker(host: "127.0.0.1", port: port), clientID: name, will: nil, keepAliveSeconds: 60)
        for filter in filters { link.ask(.subscribe(filter, .atLeastOnce)) }
        // Taken at once: a link whose events nobody takes ends some time after some hundred of them.
        let (messages, continuation) = AsyncStream.makeStream(of: MQTTMessage.self)
        let granted = WatchedState(0)
        Task {
            for await event in events {
                switch event {
                case .subscribed(_, true): granted.update { $0 += 1 }
                case .received(let message): continuation.yield(message)
                default: break
                }
            }
            continuation.finish()
        }
        (self.link, self.messages) = (link, messages)
        try await Bounded.wait(for: "the subscriptions") { try await granted.wait { $0 == filters.count } }
    }

    /// Returns the first message under each topic, once there is one under all topics with these beginnings.
    func messages(_ beginnings: [String]) async throws -> [String: MQTTMessage] {
        var (rest, first) = (beginnings, [String: MQTTMessage]())
        while !rest.isEmpty {
            let message = try await next("\(rest)") { _ in true }
            first[message.topic] = first[message.topic] ?? message
            rest.removeAll { message.topic.hasPrefix($0) }
        }
        return first
    }

    /// Returns the next message that satisfies a condition.
    func next(
        _ awaited: String, _ condition: @escaping @Sendable (MQTTMessage) -> Bool
    ) async throws -> MQTTMessage {
        let messages = messages
        return try await Bounded.wait(for: awaited) {
            for await message in messages where condition(message) { return message }
            throw Bounded.Expired(awaited: "\(awaited): the link ended")
        }
    }

    func status(_ text: String) async throws {
        _ = try await next(text) { $0.topic == "site/fleets/fleet/status" && $0.payload.elementsEqual(text.utf8) }
    }

    func close() { link.ask(.close) }
}

extension XCTestCase {
    /// A broker that runs until the test ends.
    ///
    /// - Parameter accessList: the lines of mosquitto's access list; nil permits everything.
    func broker(accessList: String? = nil) throws -> MosquittoBroker {
        let folder = try temporaryFolder()
        var configuration = MosquittoBroker.Configuration()
        if let accessList {
            try Data(accessList.utf8).write(to: URL(filePath: folder + "/access"))
            configuration.listener += "\nacl_file \(folder)/access"
        }
        let broker = try MosquittoBroker(folder: folder, configuration)
        // XCTest requires a Sendable block; it runs after the test, when nothing else uses the broker.
        nonisolated(unsafe) let stopped = broker
        addTeardownBlock { stopped.kill() }
        return broker
    }
}

/// A client that publishes the messages of gateways in order over one connection.
struct GatewayClient: Sendable {
    private let link: MQTTLink
    private let events: AsyncStream<MQTTLinkEvent>

    /// Connects, and waits until the broker accepts.
    init(port: UInt16) async throws {
        let name = "gateways" + String(UInt64.random(in: .min ... .max), radix: 36)
        (link, events) = MQTTLink.open(
            MQTTBroker(host: "127.0.0.1", port: port), clientID: name, will: nil, keepAliveSeconds: 60)
        try await wait(for: "acceptance", .accepted)
    }

    /// Publishes a message and waits until the broker has it, and with it all earlier ones.
    func deliver(_ topic: String, _ payload: [UInt8]) async throws {
        link.ask(.deliver(MQTTMessage(topic: topic, payload: payload)))
        try await wait(for: "confirmation", .confirmed)
    }

    func publish(_ topic: String, _ payload: [UInt8]) {
        link.ask(.publish(MQTTMessage(topic: topic, payload: payload, quality: .atMostOnce)))
    }

    func close() { link.ask(.close) }

    private func wait(for awaited: String, _ event: MQTTLinkEvent) async throws {
        let events = events
        try await Bounded.wait(for: awaited) {
            for await other in events where other == event { return }
            throw Bounded.Expired(awaited: "\(awaited): the link ended")
        }
    }
}

/// The gateways of a venue, which receive tags at given points without noise.
struct GatewayStage: Sendable {
    let client: GatewayClient
    let venue: Venue

    /// Publishes what each gateway of the first map receives, as OpenMQTTGateway does.
    ///
    /// - Parameter beacon: the iBeacon that the tag advertises; nil for none.
    func publish(tag: String, at point: MapPoint, beacon: BeaconIdentity? = nil) async throws {
        let fields = beacon.map { #","uuid":"\#($0.uuid)","major":\#($0.major),"minor":\#($0.minor)"# } ?? ""
        for receiver in venue.receivers where receiver.mapID == 1 {
            let distance = max(1, receiver.point.distance(to: point))
            let rssi = Int((-59 - 22 * log10(distance)).rounded())
            guard rssi > -90 else { continue }
            let payload = #"{"id":"\#(tag)","rssi":\#(rssi),"txpower":-59\#(fields)}"#
            let topic = "home/\(receiver.id)/BTtoMQTT/\(tag.replacing(":", with: ""))"
            try await client.deliver(topic, Array(payload.utf8))
        }
    }

    /// Publishes readings of a tag again and again, as gateways do, until the program has printed a position of the tag
    /// in a line from `index` on.
    func publish(tag: String, at point: MapPoint, until service: ServiceProcess, from index: Int = 0) async throws {
        let start = ContinuousClock.now
        repeat {
            guard start.duration(to: .now) < Bounded.longest else {
                throw Bounded.Expired(
                    awaited: "a position of \(tag) after \(service.told.suffix(10)), \(service.errors)")
            }
            try await publish(tag: tag, at: point)
        } while !service.prints(tag, "\"position\"", from: index, within: 0.2)
    }

    /// Moves a tag by 20 m, so that it is recorded, and publishes its readings until a condition is true.
    func move(tag: String, heardBy service: ServiceProcess, until isTrue: () throws -> Bool) async throws {
        let start = ContinuousClock.now
        var x = 5.0
        while try !isTrue() {
            guard start.duration(to: .now) < Bounded.longest else {
                throw Bounded.Expired(awaited: "what follows the movement of \(tag), \(service.errors)")
            }
            try await publish(tag: tag, at: MapPoint(x: x, y: 10), until: service, from: service.told.count)
            x = 25
        }
    }
}

extension XCTestCase {
    /// Writes a register with these tags, which are located at their first reading, and returns its path.
    func register(of tags: String...) throws -> String {
        let path = try temporaryFolder() + "/tags.csv"
        try Data((["key"] + tags).joined(separator: "\n").utf8).write(to: URL(filePath: path))
        return path
    }
}

extension XCTestCase {
    /// Returns two processes that begin one after the other under one name, of which the second one ends.
    ///
    /// On a busy machine, the first one may answer later than within the second that the other one waits, and then end
    /// itself. Another pair begins after that, some times at most.
    func rivals(
        _ first: () throws -> ServiceProcess, _ second: () throws -> ServiceProcess
    ) throws -> (ServiceProcess, ServiceProcess) {
        var attempt = 1
        while true {
            let (holder, rival) = (try first(), try second())
            let deadline = ContinuousClock.now + .seconds(Tool.bound)
            while !holder.hasEnded, !rival.hasEnded, ContinuousClock.now < deadline { poll(nil, 0, 5) }
            if !holder.hasEnded || attempt == 5 { return (holder, rival) }
            rival.send(SIGKILL)
            _ = try rival.end()
            attempt += 1
        }
    }

    /// The files of a running `track --state`. They change when the state is saved.
    func savedState(in folder: String) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasSuffix(".new") }
        return names.reduce(into: [:]) { $0[$1] = FileManager.default.contents(atPath: folder + "/" + $1) }
    }

    /// The number of marks that the file of the only walk in a folder has so far. It has each mark after some seconds.
    func recordedMarks(in folder: String) -> Int {
        let walks = try? FileManager.default.contentsOfDirectory(atPath: folder)
        guard let walk = walks?.first else { return 0 }
        let recording = try? SurveyRecording(path: folder + "/" + walk, strictness: .lenient)
        return recording?.waypoints.count ?? 0
    }
}

/// One line of `indoorloc track`.
struct TrackLine: Decodable {
    var tag: String
    var epoch: UInt64
    var sequence: UInt64
    var type: String
    var x: Double?
    var y: Double?

    init(_ line: String) throws { self = try JSONDecoder().decode(TrackLine.self, from: Data(line.utf8)) }

    var point: MapPoint? { x.flatMap { x in y.map { MapPoint(x: x, y: $0) } } }
}

/// A web server for uploads that answers all requests with the same response.
final class UploadServer: Sendable {
    /// A received record.
    struct Record: Hashable, Sendable {
        var type: String
        var number: Int
    }

    private let server: RudeServer
    private let arrived = WatchedState<[Record]>([])

    init(_ status: String) throws {
        let arrived = arrived
        server = try RudeServer { _, request in
            let records = Self.records(of: request)
            arrived.update { $0 += records }
            return .with("HTTP/1.1 \(status)\nContent-Length: 0")
        }
    }

    var url: String { server.url }
    /// All requests, with their bodies.
    var requests: [String] { server.requests }
    /// All records so far, including rejected ones.
    var records: [Record] { arrived.value }

    /// Waits until the records satisfy the condition.
    func wait(until condition: @escaping @Sendable ([Record]) -> Bool) async throws {
        let arrived = arrived
        try await Bounded.wait(for: "records") { try await arrived.wait(until: condition) }
    }

    func stop() { server.stop() }

    /// Returns the records of a request.
    static func records(of request: String) -> [Record] {
        let body = request.components(separatedBy: "\r\n\r\n").last ?? ""
        let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        return (object?["records"] as? [[String: Any]] ?? []).compactMap { record in
            guard let type = record["type"] as? String, let number = record["number"] as? Int else { return nil }
            return Record(type: type, number: number)
        }
    }
}
