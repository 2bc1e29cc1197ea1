import IndoorVocabulary
import LocalizationSession
import VenueModel

/// A plugin that tells other devices where this one is, and knows where they are.
///
///     let host = PluginHost(localizer: localizer, sharing: broker)
///     let others = await host.add(PositionSharingPlugin(), arguments: .init(rooms: ["forklifts"]))
///
/// It works over any `PositionSharing`, the one of its host. What the others tell arrives with all plugins that have
/// subscribed to `networkPositions` and `networkData`; this one keeps the last of each device.
///
/// It starts nothing: its rooms are joined whenever the host's services have connected. One that cannot be joined then is
/// told on the host's `failures`, keeps the others from nothing, and is tried again with the next connection.
///
/// The settings `sharing.room` and `sharing.interval` (<doc:Configuration>) count beside the arguments: the room is joined, too, and
/// the interval takes the place of theirs.
public actor PositionSharingPlugin: LocalizationPlugin {
    /// What the plugin works with.
    public struct Arguments: Hashable, Sendable {
        /// The rooms to join.
        public var rooms: [String]
        /// The time between two positions that are handed over, from 0 s on. 0 s hands over all of them, and leaves it to
        /// the way to the others how many it tells.
        public var interval: Duration

        /// Creates the arguments.
        public init(rooms: [String], interval: Duration = .zero) {
            self.rooms = rooms
            self.interval = interval
        }
    }

    /// The rooms that this device has joined, in order.
    public private(set) var rooms: [String] = []
    /// Where the other devices were when they told last.
    public private(set) var devices: [DeviceID: SharedPosition] = [:]
    /// How many devices are in a room, where that is known.
    public private(set) var occupancies: [String: Int] = [:]

    /// The rooms to be in, joined or not, in order.
    private var wanted: [String] = []
    /// The room that the settings name; nil if they name none, or one of the arguments.
    private var settingsRoom: String?
    private var isConnected = false
    private var interval = Duration.zero
    private var lastShared: Instant?
    private var sharing: (any PositionSharing)?
    private weak var host: PluginHost?

    /// Creates the plugin, to be added to a host.
    public init() {}

    /// Begins to wait for a connection.
    ///
    /// - Returns: false if the host has no way to other devices.
    /// - Throws: `SharingNameError` if one of the rooms has no name that a room can have.
    public func initialize(host: PluginHost, arguments: Arguments) async throws -> Bool {
        guard let sharing = host.sharing else { return false }
        for room in arguments.rooms { try Self.check(room) }
        self.host = host
        self.sharing = sharing
        interval = arguments.interval
        for room in arguments.rooms where !wanted.contains(room) { wanted.append(room) }
        _ = try await useSettings()
        await host.subscribe(self, to: [.positions, .networkPositions, .networkData])
        return true
    }

    /// Leaves the rooms.
    public func stop() async throws -> Bool {
        for room in wanted { try await leave(room) }
        return true
    }

    /// Joins one more room, now or as soon as there is a connection; one that it is in already is not joined again.
    ///
    /// - Throws: `SharingNameError`, or why it cannot be joined now: then it is tried again with the next connection, unless
    ///   it is left before.
    public func join(_ room: String) async throws {
        guard let sharing, !rooms.contains(room) else { return }
        try Self.check(room)
        if !wanted.contains(room) { wanted.append(room) }
        guard isConnected else { return }
        try await sharing.join(room)
        // It may have been left meanwhile, and not have been there to leave.
        guard wanted.contains(room) else { return try await sharing.leave(room) }
        if !rooms.contains(room) { rooms.append(room) }
    }

    /// Leaves a room; the devices that told from it are forgotten.
    public func leave(_ room: String) async throws {
        if rooms.contains(room) { try await sharing?.leave(room) }
        wanted.removeAll { $0 == room }
        forget(room)
    }

    private static func check(_ room: String) throws(SharingNameError) {
        if let error = SharingNameError(of: room) { throw error }
    }

    /// Enters the room that the settings name, and leaves the one that they named before.
    private func useSettings() async throws -> SharingSettings {
        let settings = await host?.localizer.settings.resolved.sharing ?? SharingSettings()
        guard settings.room != settingsRoom else { return settings }
        if let old = settingsRoom {
            settingsRoom = nil
            try await leave(old)
        }
        guard let room = settings.room, !wanted.contains(room) else { return settings }
        settingsRoom = room
        try await join(room)
        return settings
    }

    private func joinAll() async throws {
        var failure: (any Error)?
        for room in wanted {
            do { try await join(room) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// Sends a text to all rooms.
    public func send(_ text: String, tag: String = "") async throws {
        for room in rooms { try await sharing?.send(text, tag: tag, to: room) }
    }

    public func receive(position: Position) async throws {
        let interval = try await useSettings().interval ?? interval
        // An instant before the last one is of a new session.
        let isSoon =
            lastShared.map { position.instant >= $0 && $0.duration(to: position.instant) < interval } ?? false
        guard !isSoon, !rooms.isEmpty else { return }
        lastShared = position.instant
        // By the session's venue, as a position knows its map only.
        let venue = await host?.localizer.state.venue
        let level = venue?.id == position.venueID ? venue?.map(position.mapID)?.level : nil
        try await sharing?.share(position, level: level)
    }

    public func receive(networkPosition: SharedPosition) { devices[networkPosition.device] = networkPosition }

    public func receive(networkData: SharingEvent) async throws {
        switch networkData {
        case .connected:
            isConnected = true
            _ = try await useSettings()
            try await joinAll()
        case .disconnected: isConnected = false
        case .occupancy(let room, let count): occupancies[room] = count
        case .roomFull(let room, _), .left(let room): forget(room)
        case .serverFull: await sharing?.disconnect()
        case .joined, .position, .message, .failed: break
        }
    }

    private func forget(_ room: String) {
        rooms.removeAll { $0 == room }
        occupancies[room] = nil
        devices = devices.filter { $0.value.room != room }
    }
}
