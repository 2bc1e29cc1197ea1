import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import XCTest

struct StageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A listener for the events of a device, with a time limit for each wait.
struct EventListener: Sendable {
    private let events: AsyncStream<SharingEvent>

    /// Starts to collect all events.
    init(_ sharing: MQTTPositionSharing) { events = sharing.events }

    /// Returns the next event that the closure accepts, and skips the events before it.
    @discardableResult func hears<Value: Sendable>(
        _ awaited: String, _ telling: @escaping @Sendable (SharingEvent) -> Value?
    ) async throws -> Value {
        let events = events
        return try await Bounded.wait(for: awaited) {
            for await event in events {
                if let value = telling(event) { return value }
            }
            throw StageError("\(awaited): the events ended")
        }
    }

    func hears(_ event: SharingEvent) async throws { try await hears("\(event)") { $0 == event ? true : nil } }

    func hearsPosition(of device: String, x: Double) async throws -> SharedPosition {
        try await hears("position of \(device) at \(x)") { event in
            guard case .position(let position) = event, position.device.rawValue == device, position.x == x else {
                return nil
            }
            return position
        }
    }

    func hearsMessage() async throws -> SharedMessage {
        try await hears("message") { if case .message(let message) = $0 { message } else { nil } }
    }

    func hearsFailure() async throws -> LocalizationError {
        try await hears("failure") { if case .failed(let error) = $0 { error } else { nil } }
    }

    func hearsDisconnection() async throws -> String {
        try await hears("disconnection") { if case .disconnected(let reason) = $0 { reason } else { nil } }
    }
}

extension XCTestCase {
    /// Returns a new empty folder that is removed after the test.
    func temporaryFolder() throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/sharing-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        return path
    }

    /// Returns a broker that is killed after the test.
    func broker(
        _ configuration: MosquittoBroker.Configuration = .init(), in folder: String? = nil
    ) throws -> MosquittoBroker {
        let broker = try MosquittoBroker(folder: try folder ?? temporaryFolder(), configuration)
        // XCTest requires a sendable block. It runs after the test, when nothing else uses the broker.
        nonisolated(unsafe) let stopped = broker
        addTeardownBlock { stopped.kill() }
        return broker
    }

    /// Returns a device on a broker that is in no room. It disconnects after the test.
    func device(
        _ name: String, _ broker: MosquittoBroker, _ change: (inout MQTTSharingSettings) -> Void = { _ in }
    ) throws -> MQTTPositionSharing {
        var settings = MQTTSharingSettings.patient
        settings.interval = .zero
        settings.firstPause = .milliseconds(50)
        change(&settings)
        let sharing = try MQTTPositionSharing(
            MQTTBroker(host: "127.0.0.1", port: broker.port), device: DeviceID(name), settings: settings)
        addTeardownBlock { await sharing.disconnect() }
        return sharing
    }

    /// Returns a device in a room, with a listener that started before the device joined.
    func device(
        _ name: String, in room: String, _ broker: MosquittoBroker,
        _ change: (inout MQTTSharingSettings) -> Void = { _ in }
    ) async throws -> (MQTTPositionSharing, EventListener) {
        let sharing = try device(name, broker, change)
        let ear = EventListener(sharing)
        try await sharing.connect()
        try await sharing.join(room)
        return (sharing, ear)
    }

    /// Asserts that an operation throws an error.
    func assertFails(
        with error: MQTTSharingError, line: UInt = #line, _ body: () async throws -> Void
    ) async {
        do {
            try await body()
            XCTFail("no error was thrown", line: line)
        } catch let thrown as MQTTSharingError {
            XCTAssertEqual(thrown, error, line: line)
        } catch { XCTFail("\(error)", line: line) }
    }
}

extension MQTTSharingSettings {
    /// The defaults with time limits that no busy machine reaches: for the broker's answers, and for the device's pings.
    static var patient: MQTTSharingSettings {
        var settings = MQTTSharingSettings()
        settings.patience = Bounded.longest
        settings.keepAlive = .seconds(600)
        return settings
    }
}

extension Position {
    /// Returns a position in an arbitrary venue.
    static func at(x: Double, coordinate: Coordinate? = nil, label: String? = nil) -> Position {
        Position(
            instant: .zero, venueID: 7, mapID: 3, point: MapPoint(x: x, y: 2.5), radius: 1.5, label: label,
            coordinate: coordinate, course: 90)
    }
}

/// A client that publishes and reads any messages, over the package's own link.
struct PlainClient: Sendable {
    private let link: MQTTLink
    private let events: AsyncStream<MQTTLinkEvent>

    /// Connects and subscribes, and waits until the broker has granted the subscriptions.
    init(port: UInt16, filter: String = "#") async throws {
        try await self.init(MQTTBroker(host: "127.0.0.1", port: port), filter: filter)
    }

    /// Connects to a broker, with any credentials.
    init(_ broker: MQTTBroker, filter: String) async throws {
        let name = "plain" + String(UInt64.random(in: .min ... .max), radix: 36)
        (link, events) = MQTTLink.open(
            broker, clientID: name, will: nil, keepAliveSeconds: 60)
        try await next("acceptance") { if case .accepted = $0 { true } else { nil } }
        link.ask(.subscribe(filter, .atLeastOnce))
        try await next("subscription") { if case .subscribed = $0 { true } else { nil } }
    }

    func publish(
        _ topic: String, _ payload: some Collection<UInt8>, isRetained: Bool = false,
        quality: MQTTMessage.Quality = .atLeastOnce
    ) {
        link.ask(
            .publish(MQTTMessage(topic: topic, payload: Array(payload), quality: quality, isRetained: isRetained)))
    }

    func publish(_ topic: String, _ text: String, isRetained: Bool = false) {
        publish(topic, Array(text.utf8), isRetained: isRetained)
    }

    /// Returns the next message under a topic.
    func message(_ topic: String) async throws -> MQTTMessage {
        try await next(topic) { event in
            if case .received(let message) = event, message.topic == topic { message } else { nil }
        }
    }

    /// Returns the topics of all messages up to a message under one topic, including that topic.
    func topics(until last: String) async throws -> Set<String> {
        var topics: Set<String> = []
        while !topics.contains(last) {
            topics.insert(
                try await next("any message") { event in
                    if case .received(let message) = event { message.topic } else { nil }
                })
        }
        return topics
    }

    func close() { link.ask(.close) }

    @discardableResult private func next<Value: Sendable>(
        _ awaited: String, _ telling: @escaping @Sendable (MQTTLinkEvent) -> Value?
    ) async throws -> Value {
        let events = events
        return try await Bounded.wait(for: awaited) {
            for await event in events {
                if let value = telling(event) { return value }
            }
            throw StageError("\(awaited): the link ended")
        }
    }
}
