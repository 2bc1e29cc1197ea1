import Foundation
import IndoorLocalization
import MQTTSharing
import XCTest

/// A machine with a simulated broker, in virtual time.
struct MachineStage {
    private(set) var machine: SharingMachine
    private(set) var now = SharingMachine.Moment(instant: Instant(seconds: 1000), date: 1_800_000_000)
    private var session = ""
    private let topics = SharingTopics(prefix: "indoorloc/v1")
    private let name: DeviceID

    init(_ name: String = "cart", _ change: (inout MQTTSharingSettings) -> Void = { _ in }) throws {
        var settings = MQTTSharingSettings()
        change(&settings)
        self.name = try DeviceID(name)
        machine = SharingMachine(
            MQTTBroker(host: "broker"), device: self.name, name: nil, settings: settings, seed: 1)
    }

    @discardableResult mutating func handle(_ event: SharingMachine.Event) -> [SharingMachine.Directive] {
        let directives = machine.handle(event, at: now)
        for case .open(let session) in directives { self.session = session }
        return directives
    }

    mutating func advance(_ seconds: Double) {
        now.instant = now.instant.advanced(by: .nanoseconds(Int64(seconds * 1e9)))
        now.date += seconds
    }

    /// Sets the device's date back; the monotonic time isn't affected.
    mutating func setClock(back seconds: Double) { now.date -= seconds }

    /// Advances the clock to the next wake-up of the machine, and sends it a tick.
    mutating func wake() throws -> [SharingMachine.Directive] {
        let next = try XCTUnwrap(machine.nextWake, "the machine needs no tick")
        advance(max(0, now.instant.duration(to: next).seconds))
        now.instant = max(now.instant, next)
        return handle(.tick)
    }

    mutating func refresh() -> [SharingMachine.Directive]? { machine.refresh(at: now) }

    /// Delivers a message from the broker.
    @discardableResult mutating func receive(
        _ topic: SharingTopic, _ payload: [UInt8], isRetained: Bool = false
    ) -> [SharingMachine.Directive] {
        handle(.link(.received(MQTTMessage(topic: topics.name(topic), payload: payload, isRetained: isRetained))))
    }

    /// Delivers another device's presence.
    @discardableResult mutating func presence(of other: String, _ rooms: [String]?) throws -> [SharingMachine.Directive]
    {
        let bytes = rooms.map { rooms in
            SharingPayload.bytes(
                SharingPayload.Presence(device: other, name: nil, session: "of " + other, rooms: rooms, sentAt: 0))
        }
        return receive(.presence(try DeviceID(other)), bytes ?? [])
    }

    /// Delivers this device's own presence.
    @discardableResult mutating func echo(_ rooms: [String], session: String? = nil) -> [SharingMachine.Directive] {
        receive(
            .presence(name),
            SharingPayload.bytes(
                SharingPayload.Presence(
                    device: name.rawValue, name: nil, session: session ?? self.session, rooms: rooms, sentAt: 0)))
    }

    /// Accepts the link and grants the subscriptions.
    @discardableResult mutating func acceptLink() -> [SharingMachine.Directive] {
        var last: [SharingMachine.Directive] = []
        for case .subscribe(let filter, _) in handle(.link(.accepted)) {
            last = handle(.link(.subscribed(filter: filter, isGranted: true)))
        }
        return last
    }

    mutating func connect() {
        handle(.connect(1))
        acceptLink()
        echo([])
    }

    mutating func join(_ room: String) {
        ask(room)
        echo([room])
    }

    /// Joins a room, up to the published presence.
    mutating func ask(_ room: String) {
        handle(.join(room, 2))
        handle(.link(.subscribed(filter: topics.filter(ofRoom: room), isGranted: true)))
    }
}

extension [SharingMachine.Directive] {
    var events: [SharingEvent] { compactMap { if case .emit(let event) = $0 { event } else { nil } } }
    var published: [MQTTMessage] { compactMap { if case .publish(let message) = $0 { message } else { nil } } }
    var positions: [MQTTMessage] { published.filter { $0.topic.hasSuffix("/position") } }

    /// Returns the x of each published position.
    func places() throws -> [Double] {
        try positions.map { message in
            let object = try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any]
            return try XCTUnwrap(object?["x"] as? Double)
        }
    }
}
