import Glibc
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// Position sharing with other devices through an MQTT broker.
///
///     let sharing = try MQTTPositionSharing(MQTTBroker(host: "broker.example.org"), device: DeviceID("forklift-7"))
///     try await sharing.connect()
///     try await sharing.join("warehouse")
///     for await case .position(let position) in sharing.events { print(position.device, position.x, position.y) }
///
/// `connect` throws if the broker isn't reachable. If an established connection breaks, the actor reconnects with
/// growing pauses and joins the rooms again. If the device disappears, the broker informs the others with the device's
/// last will.
public actor MQTTPositionSharing: PositionSharing {
    /// The number of events that each stream buffers. If the buffer is full, the oldest events are lost.
    private static let bufferLimit = 1024

    /// The broker.
    package nonisolated let broker: MQTTBroker
    /// The ID of this device.
    package nonisolated let device: DeviceID

    private let settings: MQTTSharingSettings
    private nonisolated let broadcast = Broadcast<SharingEvent>(.bufferingNewest(bufferLimit))
    private var machine: SharingMachine
    private var link: MQTTLink?
    private var linkNumber = 0
    /// The task that receives the events of the latest link.
    private var listening: Task<Void, Never>?
    private var waiting: [SharingMachine.Reply: CheckedContinuation<MQTTSharingError?, Never>] = [:]
    private var lastReply: SharingMachine.Reply = 0
    private var wake: (at: Instant, task: Task<Void, Never>)?
    private var levels: (venue: VenueID, levels: [MapID: Int])?

    /// Creates sharing for a device. It sends nothing until `connect` is called.
    ///
    /// - Parameters:
    ///   - device: The ID of this device, which must be unique on the broker.
    ///   - name: The device's display name; nil for none.
    /// - Throws: `MQTTSharingError.badPrefix`, or `badSetting` if a setting is out of range.
    public init(
        _ broker: MQTTBroker, device: DeviceID, name: String? = nil, settings: MQTTSharingSettings = .init()
    ) throws(MQTTSharingError) {
        try settings.check()
        self.broker = broker
        self.device = device
        self.settings = settings
        machine = SharingMachine(
            broker, device: device, name: name, settings: settings, seed: .random(in: .min ... .max))
    }

    deinit {
        wake?.task.cancel()
        // Without disconnecting, so that the broker publishes the last will.
        link?.abandon()
    }

    /// A stream of the events from now on. Each access returns a new stream, which buffers the newest 1024 events.
    public nonisolated var events: AsyncStream<SharingEvent> { broadcast.subscribe() }

    /// The number of malformed messages received.
    public var malformedMessageCount: Int { machine.malformedCount }

    /// The number of messages that the device dropped because they lack the signature that `trust` requires.
    public var untrustedMessageCount: Int { machine.untrustedCount }

    /// Whether the device is connected to the broker.
    package var isConnected: Bool { machine.isUp }

    /// Whether the device is connected or tries to connect: false before `connect`, after a failed `connect`, and after
    /// `disconnect`.
    package var isKept: Bool { machine.isKept }

    /// Connects to the broker and keeps the connection. Does nothing if the device is connected.
    ///
    /// - Throws: `MQTTSharingError` if the broker isn't reachable, or has reached its capacity.
    public func connect() async throws(MQTTSharingError) {
        try await ask { .connect($0) }
    }

    /// Connects to the broker unless the current task is cancelled.
    ///
    /// A task that was cancelled before a `disconnect` can't connect after it, because nothing comes between the check and
    /// the connection.
    ///
    /// - Throws: `MQTTSharingError.notConnected` if the task is cancelled; otherwise the errors of `connect`.
    package func connectUnlessCancelled() async throws(MQTTSharingError) {
        guard !Task.isCancelled else { throw .notConnected }
        try await connect()
    }

    /// Leaves all rooms, disconnects from the broker and waits until that is done. Does nothing without a connection.
    public func disconnect() async {
        run(.disconnect)
        await listening?.value
    }

    /// Joins a room. From then on, `events` delivers the positions and texts of the other devices in it.
    ///
    /// - Throws: `MQTTSharingError` if the name is invalid, if there is no connection, or if the room is full. The
    ///   device isn't in the room then.
    public func join(_ room: String) async throws(MQTTSharingError) {
        try check(room)
        try await ask { .join(room, $0) }
    }

    /// Leaves a room. Does nothing if this device isn't in it.
    public func leave(_ room: String) async throws(MQTTSharingError) { run(.leave(room)) }

    /// Publishes the position of this device to all its rooms, at most once in each interval of the settings. The
    /// newest position replaces one that waits. During a reconnection, the position waits.
    ///
    /// - Throws: `MQTTSharingError.badPosition`.
    public func share(_ position: Position) async throws(MQTTSharingError) { try await share(position, level: nil) }

    /// Publishes the position of this device with its level.
    ///
    /// - Parameter level: The ordinal of the position's floor; nil for the level from the venue of `useLevels`, if the
    ///   position is in that venue.
    /// - Throws: `MQTTSharingError.badPosition`.
    public func share(_ position: Position, level: Int?) async throws(MQTTSharingError) {
        let known = levels?.venue == position.venueID ? levels?.levels[position.mapID] : nil
        if let problem = SharedPosition(position, of: device, in: "any", sentAt: 0).problem {
            throw .badPosition(problem)
        }
        run(.share(position, level: level ?? known))
    }

    /// Sends a text to the other devices in a room that this device is in.
    ///
    /// - Throws: `MQTTSharingError` if there is no connection, if the device isn't in the room, or if the text (4096
    ///   bytes) or the tag (256 bytes) is too long.
    public func send(_ text: String, tag: String, to room: String) async throws(MQTTSharingError) {
        guard machine.isUp else { throw .notConnected }
        guard machine.isIn(room) else { throw .notInRoom(room) }
        let (longestText, longestTag) = (MQTTSharingSettings.longestText, MQTTSharingSettings.longestTag)
        guard text.utf8.count <= longestText else {
            throw .textTooLong(bytes: text.utf8.count, longest: longestText)
        }
        guard tag.utf8.count <= longestTag else {
            throw .tagTooLong(bytes: tag.utf8.count, longest: longestTag)
        }
        run(.send(text, tag: tag, room: room))
    }

    /// Starts to report the number of devices in a room, without joining it.
    ///
    /// - Throws: `MQTTSharingError.badRoom`.
    public func track(_ room: String) throws(MQTTSharingError) {
        try check(room)
        run(.track(room))
    }

    /// Stops the reports that `track` started.
    public func untrack(_ room: String) { run(.untrack(room)) }

    /// Returns the number of devices in a room, including this one; nil without a connection.
    public func occupancy(of room: String) -> Int? { machine.isUp ? machine.occupancy(of: room) : nil }

    /// Reports again the number of devices in each room that this device is in or tracks.
    ///
    /// - Returns: True if the numbers were reported; false without a connection, or within half a second of the last
    ///   report.
    @discardableResult package func refreshOccupancy() -> Bool {
        guard let directives = machine.refresh(at: Self.now) else { return false }
        perform(directives)
        return true
    }

    /// The number of messages that the broker refused. Only brokers with MQTT 5 report it.
    package var refusedMessageCount: Int { machine.refusedCount }

    /// Adds the levels of a venue's maps to shared positions, which have no level of their own.
    package func useLevels(of venue: Venue) {
        levels = (venue.id, Dictionary(venue.maps.map { ($0.id, $0.level) }, uniquingKeysWith: { first, _ in first }))
    }

    /// Removes this device from Home Assistant until the next connection. Does nothing without a connection.
    package func withdrawFromHomeAssistant() { run(.withdrawFromHomeAssistant) }

    /// Tests the connection to a broker, and disconnects.
    ///
    /// - Throws: `MQTTSharingError` with the reason for a failure.
    public static func testConnect(
        _ broker: MQTTBroker, patience: Duration = MQTTSharingSettings().patience
    ) async throws(MQTTSharingError) {
        let (link, occurrences) = MQTTLink.open(
            broker, clientID: temporaryClientID(), will: nil, keepAliveSeconds: 60)
        let timeout = Task {
            guard (try? await Task.sleep(for: patience)) != nil else { return }
            link.abandon()
        }
        // If the caller cancels the test, the result is that of a timeout.
        let outcome = await withTaskCancellationHandler {
            await occurrences.first { _ in true }
        } onCancel: {
            link.abandon()
        }
        timeout.cancel()
        link.ask(.close)
        switch outcome {
        case .accepted: return
        case .ended(let error): throw error
        case .subscribed, .received, .confirmed, .refused, nil:
            throw .noAnswer(host: broker.host, port: broker.port, to: "to the connection request")
        }
    }
}

// MARK: Between the machine, the link and the callers

extension MQTTPositionSharing {
    private func check(_ room: String) throws(MQTTSharingError) {
        if let error = SharingNameError(of: room) { throw .badRoom(error) }
    }

    /// Sends the machine a request and waits for the answer, which arrives within the settings' patience.
    private func ask(_ event: (SharingMachine.Reply) -> SharingMachine.Event) async throws(MQTTSharingError) {
        lastReply += 1
        let reply = lastReply
        let event = event(reply)
        let error = await withCheckedContinuation { continuation in
            waiting[reply] = continuation
            run(event)
        }
        if let error { throw error }
    }

    private func run(_ event: SharingMachine.Event) { perform(machine.handle(event, at: Self.now)) }

    private func receive(_ event: MQTTLinkEvent, ofLink number: Int) {
        // Ignore events of an earlier link.
        if number == linkNumber, link != nil { run(.link(event)) }
    }

    private func perform(_ directives: [SharingMachine.Directive]) {
        for directive in directives {
            switch directive {
            case .open(let session): open(session)
            case .publish(let message): link?.ask(.publish(message))
            case .subscribe(let filter, let quality): link?.ask(.subscribe(filter, quality))
            case .unsubscribe(let filter): link?.ask(.unsubscribe(filter))
            case .close:
                link?.ask(.close)
                link = nil
            case .abandon:
                link?.abandon()
                link = nil
            case .emit(let event): broadcast.send(event)
            case .answer(let reply, let error): waiting.removeValue(forKey: reply)?.resume(returning: error)
            }
        }
        setAlarm()
    }

    private func open(_ session: String) {
        let (link, occurrences) = MQTTLink.open(
            broker, clientID: Self.clientID(session: session), will: machine.will,
            keepAliveSeconds: settings.keepAliveSeconds, largestPacket: SharingPayload.longestPacket,
            closingTime: settings.closingTime ?? MQTTLink.closingTime)
        self.link = link
        linkNumber += 1
        let (number, host) = (linkNumber, broker.host)
        listening = Task { [weak self] in
            for await event in occurrences { await self?.receive(event, ofLink: number) }
            // The stream overflowed. After any other end, the machine has already left the link.
            await self?.receive(.ended(.overrun(host: host)), ofLink: number)
        }
    }

    /// Returns a client ID of at most 23 letters and digits, which every broker must accept. The ID is new for each
    /// connection, so that a broker that hasn't noticed the end of an earlier connection doesn't confuse them.
    ///
    /// Source: *MQTT Version 3.1.1*, OASIS 2014, MQTT-3.1.3-5.
    private static func clientID(session: String) -> String { "indoor" + session }

    /// Returns a client ID for a connection that isn't a device's.
    static func temporaryClientID() -> String {
        clientID(session: String(UInt64.random(in: .min ... .max), radix: 16))
    }

    /// Schedules the next tick of the machine.
    private func setAlarm() {
        let next = machine.nextWake
        guard next != wake?.at else { return }
        wake?.task.cancel()
        wake = next.map { next in
            let pause = max(.zero, Self.now.instant.duration(to: next))
            return (
                next,
                Task { [weak self] in
                    guard (try? await Task.sleep(for: pause)) != nil else { return }
                    await self?.wakeUp(at: next)
                }
            )
        }
    }

    private func wakeUp(at instant: Instant) {
        guard wake?.at == instant else { return }  // replaced meanwhile
        wake = nil
        run(.tick)
    }

    private static var now: SharingMachine.Moment {
        var (boot, date) = (timespec(), timespec())
        clock_gettime(CLOCK_BOOTTIME, &boot)
        clock_gettime(CLOCK_REALTIME, &date)
        return SharingMachine.Moment(
            instant: Instant(nanoseconds: Int64(boot.tv_sec) * 1_000_000_000 + Int64(boot.tv_nsec)),
            date: Double(date.tv_sec) + (Double(date.tv_nsec) / 1e6).rounded() / 1e3)
    }
}

/// The removal of the messages that a broker retains for a device.
///
/// A broker also confirms messages that it discards because of its access list. To verify the removal, this type
/// subscribes to the topics: it first receives the retained messages, and then its own empty messages once the broker
/// has removed them.
struct DeviceRemoval: Sendable {
    /// The topics to clear, in order.
    let topics: [String]
    private var granted: Set<String> = []
    private var retained: Set<String> = []
    private var gone: Set<String> = []
    private var isAccepted = false

    private let broker: MQTTBroker

    init(_ device: DeviceID, on broker: MQTTBroker, settings: MQTTSharingSettings) {
        self.broker = broker
        let names = SharingTopics(prefix: settings.prefix)
        let homeAssistant = HomeAssistantDiscovery(
            prefix: settings.homeAssistantPrefix ?? HomeAssistantDiscovery.standardPrefix, device: device,
            locationTopic: names.name(.location(device)), presenceTopic: names.name(.presence(device)))
        topics =
            homeAssistant.removal.map(\.topic) + [names.name(.location(device)), names.name(.presence(device))]
    }

    /// The topics that had a retained message.
    var removed: [String] { topics.filter(retained.contains) }

    var isOver: Bool { gone.count == topics.count }

    /// The error to report if the broker sends nothing more.
    var failure: MQTTSharingError {
        if !isAccepted { return noAnswer(to: "to the connection request") }
        if granted.count < topics.count { return noAnswer(to: "to the subscription") }
        return .forbidden(topic: topics.first { !gone.contains($0) } ?? "")
    }

    private func noAnswer(to request: String) -> MQTTSharingError {
        .noAnswer(host: broker.host, port: broker.port, to: request)
    }

    /// Handles an event of the link, and returns the operations for the link.
    mutating func handle(_ event: MQTTLinkEvent) throws(MQTTSharingError) -> [MQTTLink.Operation] {
        switch event {
        case .accepted:
            isAccepted = true
            return topics.map { .subscribe($0, .atLeastOnce) }
        case .subscribed(let filter, let isGranted):
            guard isGranted else { throw .forbidden(topic: filter) }
            granted.insert(filter)
            guard granted.count == topics.count else { return [] }
            return topics.map { .publish(MQTTMessage(topic: $0, payload: [], isRetained: true)) }
        case .received(let message):
            if message.payload.isEmpty {
                gone.insert(message.topic)
            } else if message.isRetained {
                retained.insert(message.topic)
            }
            return []
        case .confirmed: return []
        case .refused(let topic, .notAuthorized, _): throw .forbidden(topic: topic)
        case .refused(let topic, let reason, _): throw .refusedMessage(topic: topic, reason: reason)
        case .ended(let error): throw error
        }
    }
}

extension MQTTPositionSharing {
    /// Removes a device from a broker, and so from Home Assistant, by clearing its retained messages.
    ///
    /// Stop the device first: a device that still shares publishes its messages again.
    /// - Parameters:
    ///   - device: The ID of the device.
    ///   - settings: The settings that the device shared with. Without a Home Assistant prefix, the standard prefix
    ///     applies.
    /// - Returns: The topics that had a retained message; empty if the device wasn't on the broker.
    /// - Throws: `MQTTSharingError` if the broker isn't reachable, or rejects the removal.
    package static func forget(
        _ device: DeviceID, on broker: MQTTBroker, settings: MQTTSharingSettings = .init()
    ) async throws(MQTTSharingError) -> [String] {
        try settings.check()
        var removal = DeviceRemoval(device, on: broker, settings: settings)
        let (link, occurrences) = MQTTLink.open(
            broker, clientID: temporaryClientID(), will: nil, keepAliveSeconds: settings.keepAliveSeconds,
            largestPacket: SharingPayload.longestPacket)
        let timeout = Task {
            guard (try? await Task.sleep(for: settings.patience)) != nil else { return }
            link.abandon()
        }
        defer {
            timeout.cancel()
            link.ask(.close)
        }
        for await event in occurrences {
            for operation in try removal.handle(event) { link.ask(operation) }
            if removal.isOver { return removal.removed }
        }
        throw removal.failure
    }
}
