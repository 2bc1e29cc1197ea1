import Glibc
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// Shares positions and texts with other devices through an MQTT broker.
///
///     let sharing = try MQTTPositionSharing(MQTTBroker(host: "broker.example.org"), device: DeviceID("forklift-7"))
///     try await sharing.connect()
///     try await sharing.join("warehouse")
///     for await case .position(let position) in sharing.events { print(position.device, position.x, position.y) }
///
/// `connect` fails if the broker cannot be had; once it was there, a connection that breaks is made anew with growing
/// pauses, and the rooms are joined again. When the device vanishes, the broker tells the others by its last will.
public actor MQTTPositionSharing: PositionSharing {
    /// How many events wait for a slow subscriber; beyond, the oldest are lost.
    private static let bufferLimit = 1024

    /// The broker.
    public nonisolated let broker: MQTTBroker
    /// What this device is called among the others.
    public nonisolated let device: DeviceID

    private let settings: MQTTSharingSettings
    private nonisolated let broadcast = Broadcast<SharingEvent>(.bufferingNewest(bufferLimit))
    private var machine: SharingMachine
    private var link: MQTTLink?
    private var linkNumber = 0
    /// Ends with the latest link.
    private var listening: Task<Void, Never>?
    private var waiting: [SharingMachine.Reply: CheckedContinuation<MQTTSharingError?, Never>] = [:]
    private var lastReply: SharingMachine.Reply = 0
    private var wake: (at: Instant, task: Task<Void, Never>)?
    private var levels: (venue: VenueID, levels: [MapID: Int])?

    /// Prepares sharing; nothing is sent before `connect`.
    ///
    /// - Parameters:
    ///   - device: what this device is called; no two that share through the same broker may be called the same.
    ///   - name: the device's name for people; nil for none.
    /// - Throws: `MQTTSharingError.badPrefix`, or `badSetting` if a number of the settings is out of its range.
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
        // Without a goodbye: the broker tells the others.
        link?.abandon()
    }

    /// What happens from now on. Each call gives a stream of its own; of events that nobody takes, the newest 1024 are kept.
    public nonisolated var events: AsyncStream<SharingEvent> { broadcast.subscribe() }

    /// How many messages came that nobody could make sense of.
    public var malformedMessageCount: Int { machine.malformedCount }

    /// Whether the broker is connected to now.
    public var isConnected: Bool { machine.isUp }

    /// Whether a connection is there or tried for: not before `connect`, and not once sharing has ended for good.
    public var isKept: Bool { machine.isKept }

    /// Connects to the broker, and keeps the connection. Does nothing if it is there.
    ///
    /// - Throws: `MQTTSharingError` if the broker cannot be had, or takes no more devices.
    public func connect() async throws(MQTTSharingError) {
        try await ask { .connect($0) }
    }

    /// Leaves all rooms and the broker, and returns when the broker was told. Does nothing without a connection.
    public func disconnect() async {
        run(.disconnect)
        await listening?.value
    }

    /// Enters a room: from now on, positions and texts of the others in it arrive.
    ///
    /// - Throws: `MQTTSharingError` if it is no name of a room, if there is no connection, or if the room is full: then
    ///   this device is not in it.
    public func join(_ room: String) async throws(MQTTSharingError) {
        try check(room)
        try await ask { .join(room, $0) }
    }

    /// Leaves a room; does nothing if this device is not in it.
    public func leave(_ room: String) async throws(MQTTSharingError) { run(.leave(room)) }

    /// Tells where this device is to all rooms that it is in, at the rate of the settings: the newest position wins. While
    /// a broken connection is made anew, it waits.
    ///
    /// - Throws: `MQTTSharingError.badPosition`.
    public func share(_ position: Position) async throws(MQTTSharingError) { try await share(position, level: nil) }

    /// Tells where this device is, with the level if that is known.
    ///
    /// - Parameter level: ordinal of the position's floor; nil for that of the venue of `useLevels`, if that is it.
    /// - Throws: `MQTTSharingError.badPosition`.
    public func share(_ position: Position, level: Int?) async throws(MQTTSharingError) {
        let known = levels?.venue == position.venueID ? levels?.levels[position.mapID] : nil
        if let problem = SharedPosition(position, of: device, in: "any", sentAt: 0).problem {
            throw .badPosition(problem)
        }
        run(.share(position, level: level ?? known))
    }

    /// Sends a text to the others in a room that this device is in.
    ///
    /// - Throws: `MQTTSharingError` if there is no connection, the device is not in the room, or the text (4096 bytes) or
    ///   the tag (256 bytes) is too long.
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

    /// Tells from now on how many devices are in a room, without entering it.
    ///
    /// - Throws: `MQTTSharingError.badRoom`.
    public func track(_ room: String) throws(MQTTSharingError) {
        try check(room)
        run(.track(room))
    }

    /// Ends what `track` began.
    public func untrack(_ room: String) { run(.untrack(room)) }

    /// How many devices are in a room now, this one among them; nil without a connection.
    public func occupancy(of room: String) -> Int? { machine.isUp ? machine.occupancy(of: room) : nil }

    /// Tells again how many devices are in each room that this device is in or tracks.
    ///
    /// - Returns: whether it was told: not without a connection, nor within half a second after the last time.
    @discardableResult public func refreshOccupancy() -> Bool {
        guard let directives = machine.refresh(at: Self.now) else { return false }
        perform(directives)
        return true
    }

    /// Tells positions in a venue with their levels from now on, which positions alone do not know.
    public func useLevels(of venue: Venue) {
        levels = (venue.id, Dictionary(venue.maps.map { ($0.id, $0.level) }, uniquingKeysWith: { first, _ in first }))
    }

    /// Has Home Assistant forget this device, until the next connection. Does nothing without one.
    public func withdrawFromHomeAssistant() { run(.withdrawFromHomeAssistant) }

    /// Tries whether a broker lets one in, and leaves it again.
    ///
    /// - Throws: `MQTTSharingError`, which says why not.
    public static func testConnect(
        _ broker: MQTTBroker, patience: Duration = MQTTSharingSettings().patience
    ) async throws(MQTTSharingError) {
        let (link, occurrences) = MQTTLink.open(
            broker, clientID: temporaryClientID(), will: nil, keepAliveSeconds: 60)
        let timeout = Task {
            guard (try? await Task.sleep(for: patience)) != nil else { return }
            link.abandon()
        }
        // Whoever cancels this test gets no answer in time.
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
        case .subscribed, .received, .confirmed, nil:
            throw .noAnswer(host: broker.host, port: broker.port, to: "to be let in")
        }
    }
}

// MARK: Between the machine, the link and the callers

extension MQTTPositionSharing {
    private func check(_ room: String) throws(MQTTSharingError) {
        if let error = SharingNameError(of: room) { throw .badRoom(error) }
    }

    /// Asks the machine for what takes time, and waits for its answer, which comes within the settings' patience.
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

    private func take(_ event: MQTTLinkEvent, ofLink number: Int) {
        // What a link tells that was left does not matter.
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
            case .tell(let event): broadcast.send(event)
            case .answer(let reply, let error): waiting.removeValue(forKey: reply)?.resume(returning: error)
            }
        }
        setAlarm()
    }

    private func open(_ session: String) {
        let (link, occurrences) = MQTTLink.open(
            broker, clientID: Self.clientID(session: session), will: machine.will,
            keepAliveSeconds: settings.keepAliveSeconds)
        self.link = link
        linkNumber += 1
        let (number, host) = (linkNumber, broker.host)
        listening = Task { [weak self] in
            for await event in occurrences { await self?.take(event, ofLink: number) }
            // The end of a stream that overflowed. After another end, the machine has left the link already.
            await self?.take(.ended(.overrun(host: host)), ofLink: number)
        }
    }

    /// At most 23 letters and digits, which every broker must take; new with each connection, so that a broker which has
    /// not noticed the end of an earlier one does not mistake them.
    ///
    /// Source: *MQTT Version 3.1.1*, OASIS 2014, MQTT-3.1.3-5.
    private static func clientID(session: String) -> String { "indoor" + session }

    /// Of a connection that is no device.
    static func temporaryClientID() -> String {
        clientID(session: String(UInt64.random(in: .min ... .max), radix: 16))
    }

    /// Has the machine woken when it wants to be.
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
                    await self?.wakeUp()
                }
            )
        }
    }

    private func wakeUp() {
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
